"""The part of the settings that says who writes the texts of stories, and what a score is made of."""

from collections.abc import Collection
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings

from digest.domain.errors import BadInputError
from digest.domain.ranking import parse_weights


class StorySettings(BaseSettings):
    """Writer and score; a part of :class:`digest.settings.Settings`."""

    editor: Literal["extractive", "chat"] = Field("extractive", description="who writes the texts of stories")
    chat_base_url: str = Field("", description="address of a chat-completions API, such as https://api.example.com/v1")
    chat_api_key: SecretStr = Field(SecretStr(""), description="its key; sent as bearer token")
    chat_model: str = Field("", max_length=80, description="its model")
    chat_format: Literal["json_schema", "json_object"] = Field(
        "json_schema", description="how it is told the form of an answer; json_object where it knows no schemas"
    )
    chat_daily_tokens: int = Field(500_000, ge=0, description="most tokens of one day (UTC); then it writes no more")
    chat_seconds: int = Field(60, ge=5, le=240, description="how long an answer may take")
    chat_at_once: int = Field(1, ge=1, le=16, description="how many stories it writes at once")
    score_weights: str = Field(
        "source=25,corroboration=20,freshness=25,substance=20,topics=10",
        description="points of each part of the signal score; together 100",
    )

    @field_validator("score_weights")
    @classmethod
    def _are_weights(cls, value: str) -> str:
        try:
            parse_weights(value)
        except BadInputError as error:
            raise ValueError(error.mend) from error
        return value

    def chat_faults(self, own_hosts: Collection[str]) -> list[str]:
        """What editor chat lacks; one line each. On ``own_hosts`` alone the key may travel in clear."""
        if self.editor != "chat":
            return []
        needed = {"BASE_URL": self.chat_base_url, "MODEL": self.chat_model.strip()}
        needed["API_KEY"] = self.chat_api_key.get_secret_value()
        faults = [f"DIGEST_CHAT_{name}: missing; editor chat needs one" for name, value in needed.items() if not value]
        parts = urlsplit(self.chat_base_url)
        if parts.scheme == "http" and parts.hostname not in own_hosts:
            faults.append("DIGEST_CHAT_BASE_URL: must be https; the key would travel in clear")
        return faults
