"""The prompts, one text a phase, with the shared rules put where a text asks for them.

The texts are package data, so that a person can read and change them without reading code.
`{{workbench}}` in a text stands for `workbench.md`, `{{items}}` for the most items of a plan. In
the former `{{exploring}}` is `exploring.md`; the plan, which has hardly any tools, is given
`checking.md` in its place: a prompt names no tool that its phase refuses.
"""

from pathlib import Path

from kbd.types import Phase

__all__ = ["load"]


def load(phase: Phase, max_items: int = 0) -> str:
    """Return the system prompt of a phase; that of the plan says how many items there may be."""
    return _TEXTS[phase].replace("{{items}}", str(max_items))


def _read(name: str) -> str:
    return Path(__file__).with_name(f"{name}.md").read_text("utf-8").strip()


def _whole(phase: Phase) -> str:
    exploring = _read("checking" if phase is Phase.PLAN else "exploring")
    workbench = _read("workbench").replace("{{exploring}}", exploring)
    return _read(phase).replace("{{workbench}}", workbench) + "\n"


# Read at import, for a run must not wait for the disk in the event loop.
_TEXTS = {phase: _whole(phase) for phase in Phase}
