"""OpenAI and every server that speaks its chat completions.

Read in this order: `provider` (what kbd sees), `chat` (one call, the only module that imports the
client library), `wire` (kbd's messages as the server wants them), `assembly` (pieces of a stream
become a reply), `faults` (what went wrong, in kbd's words).

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
