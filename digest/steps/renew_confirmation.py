"""A confirmation link that has expired -> a new one, to the same address."""

from datetime import datetime

from digest.steps.manage_subscriptions import Confirmation, confirmation_of
from digest.steps.request_subscriptions import CONFIRMABLE, ask_again
from digest.store.database import Sessions
from digest.store.subscribers import get
from digest.store.tables import Consent


def renew_confirmation(sessions: Sessions, consent_id: int, now: datetime) -> Confirmation:
    """Ask the owner of the address once more, with the wishes of that request.

    Returns:
        its status is ``asked``, or as :func:`digest.steps.manage_subscriptions.look_up_confirmation` has it where there
        is nothing to ask; the letters owed are none where too many were sent lately.
    """
    with sessions.begin() as session:
        consent = session.get(Consent, consent_id)
        subscriber = get(session, consent.subscriber_id, lock=True) if consent else None
        found = confirmation_of(session, consent, now)
        if consent is None or subscriber is None or found.status != "waiting" or subscriber.state not in CONFIRMABLE:
            return found
        return Confirmation(
            "asked", consent.language, found.reader, tuple(ask_again(session, subscriber, consent, now))
        )
