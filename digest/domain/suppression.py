"""Addresses that must not be written to."""

from enum import StrEnum


class SuppressionReason(StrEnum):
    """Why an address is barred; outlives the subscriber."""

    BOUNCED = "bounced"
    COMPLAINED = "complained"
    ERASED = "erased"
    """Its owner had everything erased; only a keyed hash is left."""
    OPERATOR = "operator"
