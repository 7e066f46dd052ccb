"""A provider that lets a model which can only write text call tools, by a protocol of text.

Its models are those of other providers: `toolcall:openai:llama3`. `provider` makes one turn, shows
the model's text as it comes without its calls, and reads the calls; `protocol` writes what the
model is sent: the protocol, the tools with their schemas in few words, and the conversation.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kbd import hookimpl
from kbd.providers import Provider
from kbd_toolcall.provider import ToolcallProvider

__all__ = ["ToolcallProvider", "kbd_register_providers"]


@hookimpl
def kbd_register_providers(settings: Mapping[str, Any]) -> Sequence[Provider]:
    """Declare the provider; `brief` of its settings tells the tools in fewer words."""
    return [ToolcallProvider(is_brief=settings.get("brief") is True)]
