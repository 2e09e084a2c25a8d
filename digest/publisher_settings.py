"""Settings of how the publisher is shown in mail and on the site; a part of :class:`digest.settings.Settings`."""

from urllib.parse import urlsplit

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings

SITE_NAME, CHINESE_SITE_NAME = "The Daily Brief", "每日简报"
"""What an installation is called in each language until its operator names it."""
DEVELOPMENT_POSTAL_ADDRESS = "Postal address of the publisher (set DIGEST_POSTAL_ADDRESS)"
CHINESE_DEVELOPMENT_POSTAL_ADDRESS = "出版者的通信地址（请设置 DIGEST_POSTAL_ADDRESS）"


class PublisherSettings(BaseSettings):
    """What readers see of the publisher."""

    postal_address: str = Field(DEVELOPMENT_POSTAL_ADDRESS, description="postal address in the footer")
    postal_address_zh: str = Field("", description="the same in Chinese; unset: postal_address")
    site_name: str = Field(SITE_NAME, description="name of the site and the brief")
    site_name_zh: str = Field("", description="its name in Chinese; unset: site_name, or 每日简报 if unset too")
    logo_url: str = Field("", description="https address of a picture at the head of e-mails; unset: the name")

    @field_validator("site_name", "postal_address")
    @classmethod
    def _is_one_line(cls, value: str) -> str:
        if not value.strip() or not value.isprintable():
            raise ValueError("must be one line of text")
        return value.strip()

    @field_validator("site_name_zh", "postal_address_zh")
    @classmethod
    def _is_line_or_nothing(cls, value: str) -> str:
        if value and not value.isprintable():
            raise ValueError("must be one line of text")
        return value.strip()

    @field_validator("logo_url")
    @classmethod
    def _is_secure_address(cls, value: str) -> str:
        parts = urlsplit(value)
        if value and (parts.scheme != "https" or not parts.hostname or not value.isascii() or not value.isprintable()):
            raise ValueError("must be an https address, such as https://brief.example.com/logo.png")
        return value
