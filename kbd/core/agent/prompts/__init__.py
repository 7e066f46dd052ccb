"""The prompts, one text a phase, with the shared rules put where a text asks for them.

The texts are package data, so that a person can read and change them without reading code.
`{{workbench}}` in a text stands for `workbench.md`.
"""

from pathlib import Path

from kbd.types import Phase

__all__ = ["load"]


def load(phase: Phase) -> str:
    """Return the system prompt of a phase."""
    return _TEXTS[phase]


def _read(name: str) -> str:
    return Path(__file__).with_name(f"{name}.md").read_text("utf-8").strip()


# Read at import, for a run must not wait for the disk in the event loop.
_TEXTS = {
    phase: _read(phase).replace("{{workbench}}", _read("workbench")) + "\n" for phase in Phase
}
