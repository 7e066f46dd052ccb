"""The prompts, one text a phase; `load` puts the shared rules where a text asks for them.

The texts are package data, so that a person can read and change them without reading code.
`{{workbench}}` in a text stands for `workbench.md`.
"""

from importlib import resources

from kbd.types import Phase

__all__ = ["load"]


def load(phase: Phase) -> str:
    """Return the system prompt of a phase."""
    folder = resources.files(__package__)
    text = (folder / f"{phase.value}.md").read_text("utf-8")
    shared = (folder / "workbench.md").read_text("utf-8")
    return text.replace("{{workbench}}", shared.strip()).strip() + "\n"
