"""Refuses XML whose document type could make a parser work without end or read what it should not.

Only the prolog is read, by expat itself, up to the first element: entities that refer to others (the “billion laughs”),
long ones (quadratic blow-up), parameter entities and external ones end the document. Harmless short ones, which some
publishing software declares (``<!ENTITY nbsp "&#160;">``), pass.
"""

from xml.parsers import expat

from digest.domain.errors import BadInputError

_LONGEST_ENTITY = 64


class _FirstElementError(Exception):
    """The prolog is over."""


def refuse_entities(text: str, name: str) -> None:
    """Check the declarations of an XML document.

    Args:
        text: the document, decoded.
        name: what to call it in the error, its address say.

    Raises:
        BadInputError: it declares an entity that is not plain short text.
    """
    parser = expat.ParserCreate()
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.StartElementHandler = _end_of_prolog

    def declared(entity: str, is_parameter: int, value: str | None, *_: str | None) -> None:
        harmless = (
            not is_parameter and value is not None and len(value) <= _LONGEST_ENTITY and not set(value) & set("&<%")
        )
        if not harmless:
            raise BadInputError(
                "feed", name, f"declares the XML entity {entity}, which a feed has no use for; refused."
            )

    parser.EntityDeclHandler = declared
    try:
        parser.Parse(text, True)  # noqa: FBT003 - expat takes it by position: this is all of the document
    except _FirstElementError:
        return
    except expat.ExpatError:
        # The feed parser mends what is not well-formed, entities and all, so none may follow the fault.
        if "<!ENTITY" in text:
            raise BadInputError("feed", name, "declares XML entities and is not well-formed XML; refused.") from None


def _end_of_prolog(_name: str, _attributes: dict[str, str]) -> None:
    raise _FirstElementError
