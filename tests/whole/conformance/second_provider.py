"""A provider plugin as a stranger would install it: another server of OpenAI's protocol."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from kbd import hookimpl
from kbd.providers import Provider
from kbd_openai import OpenAIProvider

__all__ = ["SecondProvider", "kbd_register_providers"]


class SecondProvider(OpenAIProvider):
    """The same under another name, with settings and a key of its own."""

    name: ClassVar[str] = "second"


@hookimpl
def kbd_register_providers(settings: Mapping[str, Any]) -> Sequence[Provider]:
    """Offer it."""
    return [SecondProvider(settings)]
