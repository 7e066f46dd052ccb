"""OpenAI and every server that speaks its chat completions or its Responses API.

Read in this order: `provider` (what kbd sees), `sending` (one call, the only module that imports
the client library), `chat` and `responses` (what each protocol sends, and how what comes is read),
`history` (a conversation as it may be sent), `options` (what not every server takes), `assembly`
(pieces of a stream become a reply), `faults` (what went wrong, in kbd's words).

Nothing here imports the client library when the daemon starts: it costs about a second.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kbd import hookimpl
from kbd.providers import Provider
from kbd_openai.provider import OpenAIProvider

__all__ = ["OpenAIProvider", "kbd_register_providers"]


@hookimpl
def kbd_register_providers(settings: Mapping[str, Any]) -> Sequence[Provider]:
    """Declare the provider with what the settings say of it."""
    return [OpenAIProvider(settings)]
