"""Who publishes the brief, as its head and its footer say."""

from dataclasses import dataclass, replace

from digest.domain.language import Language
from digest.rendering.clean import clean


@dataclass(frozen=True, slots=True)
class Site:
    """The publisher.

    Attributes:
        name: what readers know the brief by.
        postal_address: where paper mail reaches the publisher; required in the footer by law in many places.
        base_url: public address of the web pages, without a trailing slash.
        chinese_name: what readers of Chinese know it by; empty where that is the same.
        chinese_postal_address: the same address for readers of Chinese; empty where that is the same.
        counts_opens: briefs may hold a pixel by which the provider counts that they were opened, and say so.
        logo_url: a picture in the place of the name at the head of e-mails, 40 px high; empty where there is none.
    """

    name: str
    postal_address: str
    base_url: str
    chinese_name: str = ""
    logo_url: str = ""
    chinese_postal_address: str = ""
    counts_opens: bool = False

    def in_language(self, language: Language) -> "Site":
        """The publisher as readers in that language know it; every text is on one line."""
        is_chinese = language is Language.CHINESE
        name = (is_chinese and self.chinese_name) or self.name
        address = (is_chinese and self.chinese_postal_address) or self.postal_address
        return replace(self, name=clean(name), postal_address=clean(address))
