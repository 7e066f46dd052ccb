"""A provider that lets a model which can only write text call tools, by a protocol of text.

Its models are those of other providers: `toolcall:openai:llama3`. Read in this order: `provider`
(one turn), `telling` (what the model is told of the protocol and of its tools), `names` (what the
tools are called there), `shapes` (a JSON schema in few words), `history` (a conversation in the
protocol), `hearing` (what the model says, shown as it comes, without its calls), `replies` (what it
said, as a turn).
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
