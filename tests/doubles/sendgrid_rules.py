"""What the v3 Mail Send reference says a request must be; one complaint per breach, as the API words its errors."""

import json
import re
from collections.abc import Iterator
from typing import Any

MOST_RECIPIENTS = 1000
MOST_BYTES_PER_RECIPIENT = 10_000
MOST_CATEGORIES = 10
LONGEST_CATEGORY = 255

Complaint = dict[str, str | None]

REFUSED = "refused-"
"""An address that begins so is invalid to SendGrid, as some are that look right to everybody else."""
_EMAIL = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@([A-Za-z0-9-]+\.)+[A-Za-z0-9-]{2,}")
_HEADER = re.compile(r"[\x21-\x39\x3b-\x7e]+")
_RESERVED = frozenset(
    [
        "x-sg-id",
        "x-sg-eid",
        "received",
        "dkim-signature",
        "content-type",
        "content-transfer-encoding",
        "to",
        "from",
        "subject",
        "reply-to",
        "cc",
        "bcc",
    ]
)
_TOP = frozenset(
    [
        "from",
        "reply_to",
        "reply_to_list",
        "subject",
        "personalizations",
        "content",
        "attachments",
        "template_id",
        "headers",
        "categories",
        "custom_args",
        "send_at",
        "batch_id",
        "asm",
        "ip_pool_name",
        "mail_settings",
        "tracking_settings",
    ]
)
_PERSONAL = frozenset(
    [
        "to",
        "cc",
        "bcc",
        "from",
        "subject",
        "headers",
        "substitutions",
        "dynamic_template_data",
        "custom_args",
        "send_at",
    ]
)
_TRACKING = {
    "click_tracking": {"enable", "enable_text"},
    "open_tracking": {"enable"},
    "subscription_tracking": {"enable"},
    "ganalytics": {"enable"},
}


def parsed(body: bytes) -> Any:  # noqa: ANN401 # any JSON value
    """The request as JSON; None where it is none."""
    try:
        return json.loads(body.decode("utf-8"))
    except ValueError:
        return None


def complaints_about(mail: Any) -> list[Complaint]:  # noqa: ANN401 # any JSON value
    """Everything wrong with a request; empty when it would be taken."""
    if not isinstance(mail, dict):
        return [_complaint("Bad Request")]
    return [
        *_unknown(mail, _TOP, ""),
        *_mailbox(mail.get("from"), "from"),
        *_subject(mail),
        *_content(mail.get("content")),
        *_headers(mail.get("headers", {}), "headers"),
        *_categories(mail.get("categories", [])),
        *_tracking(mail.get("tracking_settings", {})),
        *_strings(mail.get("custom_args", {}), "custom_args"),
        *_personalizations(mail.get("personalizations"), mail.get("custom_args", {})),
    ]


def _complaint(message: str, field: str | None = None) -> Complaint:
    return {"message": message, "field": field, "help": None}


def _unknown(found: dict[str, Any], known: frozenset[str], place: str) -> Iterator[Complaint]:
    for name in found.keys() - known:
        yield _complaint(f"Additional property {name} is not allowed", f"{place}{name}")


def _mailbox(found: object, field: str, *, names_checked: bool = False) -> Iterator[Complaint]:
    if not isinstance(found, dict) or not isinstance(found.get("email"), str):
        yield _complaint(f"The {field} object must be provided with an email", field)
        return
    email = found["email"]
    if not _EMAIL.fullmatch(email) or ".." in email or email.startswith(REFUSED):
        yield _complaint("Does not contain a valid address.", f"{field}.email")
    name = found.get("name", "")
    if not isinstance(name, str) or (names_checked and set(name) & set(";,")) or set(name) & set("\r\n"):
        yield _complaint("The name is not valid", f"{field}.name")


def _subject(mail: dict[str, Any]) -> Iterator[Complaint]:
    subject = mail.get("subject")
    if not isinstance(subject, str) or not subject or set(subject) & set("\r\n"):
        yield _complaint(
            "The subject is required. You can get around this requirement if you use a template", "subject"
        )


def _content(found: object) -> Iterator[Complaint]:
    if not isinstance(found, list) or not found:
        yield _complaint("Unless a valid template_id is provided, the content parameter is required", "content")
        return
    kinds = []
    for number, part in enumerate(found):
        if not isinstance(part, dict) or not isinstance(part.get("value"), str) or not part["value"]:
            yield _complaint("The content value must be a string at least one character in length", f"content.{number}")
            continue
        kinds.append(part.get("type"))
    order = ["text/plain", "text/x-amp-html", "text/html"]
    if kinds != [kind for kind in order if kind in kinds]:
        yield _complaint("If present, text/plain must be first, followed by text/x-amp-html, text/html", "content")


def _headers(found: object, field: str) -> Iterator[Complaint]:
    if not isinstance(found, dict):
        yield _complaint("The headers property must be an object", field)
        return
    for name, value in found.items():
        if not _HEADER.fullmatch(name) or name.lower() in _RESERVED:
            yield _complaint(f"The header {name} may not be set", f"{field}.{name}")
        if not isinstance(value, str) or not value.isascii() or not value.isprintable():
            yield _complaint("Header values must be ASCII strings without line breaks", f"{field}.{name}")


def _categories(found: object) -> Iterator[Complaint]:
    if not isinstance(found, list) or len(found) > MOST_CATEGORIES or len(set(found)) != len(found):
        yield _complaint("The categories must be at most 10 and unique", "categories")
        return
    for number, category in enumerate(found):
        if not isinstance(category, str) or not category.isascii() or not 0 < len(category) <= LONGEST_CATEGORY:
            yield _complaint("A category is 1 to 255 ASCII characters", f"categories.{number}")


def _tracking(found: object) -> Iterator[Complaint]:
    for name, settings in found.items() if isinstance(found, dict) else ():
        switches = _TRACKING.get(name)
        right = (
            switches is not None
            and isinstance(settings, dict)
            and all(isinstance(value, bool) for key, value in settings.items() if key in switches)
        )
        if not right:
            yield _complaint("Tracking settings are objects with boolean switches", f"tracking_settings.{name}")


def _strings(found: object, field: str) -> Iterator[Complaint]:
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        yield _complaint(f"The {field.rpartition('.')[2]} must be an object of strings", field)


def _personalizations(found: object, shared_args: object) -> Iterator[Complaint]:
    if not isinstance(found, list) or not 1 <= len(found) <= MOST_RECIPIENTS:
        yield _complaint("The personalizations must hold 1 to 1000 objects", "personalizations")
        return
    seen: set[str] = set()
    count = 0
    for number, one in enumerate(found):
        if not isinstance(one, dict):
            yield _complaint("A personalization is an object", f"personalizations.{number}")
            continue
        recipients = [entry for kind in ("to", "cc", "bcc") for entry in one.get(kind) or []]
        count += len(recipients)
        yield from _personalization(one, recipients, f"personalizations.{number}", seen, shared_args)
    if count > MOST_RECIPIENTS:
        yield _complaint("The total number of recipients must be no more than 1000", "personalizations")


def _personalization(
    one: dict[str, Any], recipients: list[Any], field: str, seen: set[str], shared_args: object
) -> Iterator[Complaint]:
    yield from _unknown(one, _PERSONAL, f"{field}.")
    if not one.get("to"):
        yield _complaint(
            "The to array is required for all personalization objects, and must have at least one", f"{field}.to"
        )
    for number, entry in enumerate(recipients):
        yield from _mailbox(entry, f"{field}.to.{number}", names_checked=True)
        email = str(entry.get("email") if isinstance(entry, dict) else "").lower()
        if email in seen:
            yield _complaint("Each email address should be unique between to, cc, and bcc", f"{field}.to")
        seen.add(email)
    yield from _headers(one.get("headers", {}), f"{field}.headers")
    for name in ("substitutions", "custom_args"):
        values = one.get(name, {})
        yield from _strings(values, f"{field}.{name}")
        shared = shared_args if name == "custom_args" and isinstance(shared_args, dict) else {}
        if isinstance(values, dict) and _size(values | shared) > MOST_BYTES_PER_RECIPIENT:
            yield _complaint(f"The {name} must be no more than 10000 bytes", f"{field}.{name}")


def _size(values: dict[str, Any]) -> int:
    return sum(len(str(part).encode("utf-8", "replace")) for pair in values.items() for part in pair)
