"""Layers of the sandbox: which of them the system offers, and which of those a call gets."""

import sys
from typing import Literal

import msgspec

from kbd.core.plugins.confinement.landlock import find_version
from kbd.core.plugins.confinement.syscall_filter import why_unfiltered

__all__ = ["NO_LAYERS", "LayerName", "Layers", "SandboxLayer", "find_layers"]

LayerName = Literal["landlock", "seccomp"]
"""Landlock holds the files, seccomp the system calls."""


class SandboxLayer(msgspec.Struct, frozen=True):
    """Layer of the sandbox, as the system has it.

    Args:
        name: Its name.
        holds: Whether a call can get it.
        reason: What it is based on, or why it cannot be had.
    """

    name: LayerName
    holds: bool
    reason: str


class Layers(msgspec.Struct, frozen=True):
    """Layers that a call gets. One that is named here and cannot be applied ends the call.

    Args:
        landlock: Whether its files are held.
        seccomp: Whether its system calls are.
    """

    landlock: bool
    seccomp: bool


NO_LAYERS = Layers(landlock=False, seccomp=False)
"""What a call has beside these layers stays: its own process, its limits, its empty environment."""


def find_layers() -> tuple[SandboxLayer, SandboxLayer]:
    """Return the layers, asking the kernel; nothing is applied."""
    return _find_landlock(), _find_seccomp()


def _find_landlock() -> SandboxLayer:
    version = find_version() if sys.platform == "linux" else 0
    if version:
        return SandboxLayer("landlock", holds=True, reason=f"Landlock, version {version}")
    why = "this kernel has no Landlock (Linux 5.13 and later can have it), or it is switched off"
    return SandboxLayer("landlock", holds=False, reason=why if sys.platform == "linux" else _ABSENT)


def _find_seccomp() -> SandboxLayer:
    missing = why_unfiltered() if sys.platform == "linux" else _ABSENT
    if missing:
        return SandboxLayer("seccomp", holds=False, reason=missing)
    return SandboxLayer("seccomp", holds=True, reason="a filter of system calls (seccomp)")


_ABSENT = "only Linux has it"
