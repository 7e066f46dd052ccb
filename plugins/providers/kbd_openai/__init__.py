"""OpenAI and every server that speaks its chat completions, its Responses API or its embeddings.

Read in this order: `provider` (what kbd sees), `client_calls` (one call, the only module that
imports the client library), `event_stream` (the events of a stream, each byte looked at once),
`chat` and `responses` (what each protocol sends, and how what comes is read), `request_body` (a
conversation as it may be sent, and what not every server takes), `assembly` (pieces of a stream
become a reply), `faults` (what went wrong, in kbd's words), `identification` (whether what answers
is a server of this API). Of embeddings: `embedder` (what kbd sees, and the instructions that models
expect with a text), `vectors` (how an answer is read).

Nothing here imports the client library, or numpy, when the daemon starts: they cost about a second.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kbd import hookimpl
from kbd.providers import Embedder, Provider
from kbd_openai.embedder import OpenAIEmbedder
from kbd_openai.provider import OpenAIProvider

__all__ = [
    "OpenAIEmbedder",
    "OpenAIProvider",
    "kbd_register_embedders",
    "kbd_register_providers",
]


@hookimpl
def kbd_register_providers(settings: Mapping[str, Any]) -> Sequence[Provider]:
    """Declare the provider with what the settings say of it."""
    return [OpenAIProvider(settings)]


@hookimpl
def kbd_register_embedders(settings: Mapping[str, Any]) -> Sequence[Embedder]:
    """Declare the embedder with what the settings say of it."""
    return [OpenAIEmbedder(settings)]
