"""Who publishes the brief, as its footer says."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Site:
    """The publisher.

    Attributes:
        name: what readers know the brief by.
        postal_address: where paper mail reaches the publisher; required in the footer by law in many places.
        base_url: public address of the web pages, without a trailing slash.
    """

    name: str
    postal_address: str
    base_url: str
