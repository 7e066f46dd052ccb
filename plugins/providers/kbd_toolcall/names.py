"""How tools are called in the protocol: those of the workspace have a dot, as it is taught them."""

from collections.abc import Set as AbstractSet

__all__ = ["known_name", "shown_name"]

_OURS, _SHOWN = "workspace_", "workspace."


def shown_name(name: str) -> str:
    """Return a tool's name as the protocol has it."""
    return _SHOWN + name.removeprefix(_OURS) if name.startswith(_OURS) else name


def known_name(shown: str, offered: AbstractSet[str]) -> str:
    """Return the name of the tool that is meant; of one that is not offered, what was written."""
    name = _OURS + shown.removeprefix(_SHOWN) if shown.startswith(_SHOWN) else shown
    return name if name in offered else shown
