"""Whether an address can receive mail, and in which spelling."""

from email_validator import EmailNotValidError, validate_email

from digest.domain.address import address_key, mend_address
from digest.domain.errors import BadInputError
from digest.domain.slips import suggested_address

LONGEST = 254
"""RFC 5321 §4.5.3.1.3 with the angle brackets taken off."""


class SlipError(BadInputError):
    """The address can be written to, and looks like a slip of the finger in a well-known one.

    Args:
        address: as it was typed, mended.
        meant: the address that was probably meant.
    """

    def __init__(self, address: str, meant: str) -> None:
        super().__init__("email", address, f"looks like a slip: did you mean {meant}? Send email_checked to keep it.")
        self.meant = meant


def check_for_slips(address: str, checked: str) -> None:
    """Ask once about an address that looks like a slip; a second look by its owner settles it.

    Args:
        address: as :func:`check_address` returned it.
        checked: the address whose owner was asked before.

    Raises:
        SlipError: it is one letter away from a well-known mail domain, and nobody has looked.
    """
    meant = suggested_address(address)
    if meant and address_key(checked) != address_key(address):
        raise SlipError(address, meant)


def check_address(text: str) -> str:
    """The address to write to: mended, domain in lower case and ASCII (IDNA 2008), local part as typed.

    A local part beyond ASCII is refused: it needs SMTPUTF8 at every hop, which mail providers do not offer.

    Raises:
        BadInputError: names the value and what is wrong with it.
    """
    mended = mend_address(text)
    if len(mended) > LONGEST:
        raise BadInputError("email", text, f"is longer than {LONGEST} characters.")
    try:
        found = validate_email(mended, check_deliverability=False, allow_smtputf8=False, test_environment=True)
    except EmailNotValidError as error:
        raise BadInputError("email", text, f"is not an address we can write to: {_sentence(str(error))}") from error
    if found.ascii_email is None:
        raise BadInputError("email", text, "is not an address we can write to: use letters a to z before the @.")
    return found.ascii_email


def as_stored(text: str) -> str:
    """The spelling under which an address is looked up: a domain in Chinese, say, is kept in ASCII.

    One that is no address, which somebody still may ask about, stays as it is.
    """
    try:
        return check_address(text)
    except BadInputError:
        return text


def _sentence(words: str) -> str:
    return words[:1].lower() + words[1:].rstrip(".") + "."
