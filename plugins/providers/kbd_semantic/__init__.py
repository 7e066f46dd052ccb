"""An embedder that runs a sentence model on this machine's processor, without a GPU stack.

Read in this order: `embedder` (what kbd sees), `sidecar` (the process that runs the model, seen
from here), `messages` (what passes between the two), `process` (that process), `runner` (texts
become vectors) and `folder` (what the files of a model say).

Nothing here imports the libraries that run a model but `runner`, in its own process.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kbd import hookimpl
from kbd.providers import Embedder
from kbd_semantic.embedder import LocalEmbedder

__all__ = ["LocalEmbedder", "kbd_register_embedders"]


@hookimpl
def kbd_register_embedders(settings: Mapping[str, Any]) -> Sequence[Embedder]:
    """Declare the embedder with what the settings say of it."""
    return [LocalEmbedder(settings)]
