"""What is wrong with a form's values, said in the reader's language, one sentence per field."""

from collections.abc import Mapping

from digest.domain.errors import BadInputError, shown
from digest.domain.language import Language
from digest.steps.check_address import SlipError
from digest.web.phrases import marked, say
from digest.web.zones import meant_zone

MISSING_ADDRESS = marked("Write the e-mail address the brief should go to.")
BEYOND_ASCII = marked("{value} has letters before the @ that mail services can’t deliver to. Use a to z and digits.")
MESSAGES = {
    "email": marked("{value} is not an address we can write to. Check it for slips: name@example.com."),
    "language": marked("{value} is not a language of the brief. Choose English or 中文."),
    "timezone": marked("{value} is not a time zone we know. Choose one from the list, such as Asia/Shanghai."),
    "time": marked("{value} is not a time of day. Write it as 08:00."),
    "weekdays": marked("{value} is not a list of weekdays. Tick the days you want."),
    "topics": marked("{value} is not a topic of the brief. Choose from the list."),
    "challenge": marked("We couldn’t see that a person sent this. Please try once more."),
    "pause_until": marked("{value} is not a date we can pause until. Choose one from tomorrow to a year from now."),
}
MEANT_ZONE = marked("{value} is another name for {zone}. We’ve filled that in; please check it.")
SLIP = marked("Did you mean {address}? If {value} is right, send the form once more.")
NO_DAYS = marked("Tick at least one day. To stop for a while, pause instead.")
NO_ZONE = marked("Choose your time zone, so that 8:00 is your 8:00.")
OTHER = marked("{value} can’t be used here.")


def complaint(error: BadInputError, language: Language) -> str:
    """One sentence that names the value and says what to do."""
    if isinstance(error, SlipError):
        return say(SLIP, language, value=shown(error.value), address=error.meant)
    if error.field == "timezone" and (zone := meant_zone(str(error.value))):
        return say(MEANT_ZONE, language, value=shown(error.value), zone=zone)
    return say(_message(error), language, value=shown(error.value))


def _message(error: BadInputError) -> str:
    value = str(error.value).strip()
    if error.field == "email":
        local = value.rpartition("@")[0]
        return MISSING_ADDRESS if not value else MESSAGES["email"] if local.isascii() else BEYOND_ASCII
    if not value and error.field in {"timezone", "weekdays"}:
        return NO_ZONE if error.field == "timezone" else NO_DAYS
    return MESSAGES.get(error.field, OTHER)


def complaints(errors: Mapping[str, BadInputError], language: Language) -> dict[str, str]:
    """Field -> sentence."""
    return {field: complaint(error, language) for field, error in errors.items()}
