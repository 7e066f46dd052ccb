"""The sandbox says what it is: the setting, the layers, what is missing and why."""

import sys
from pathlib import Path

import pytest

from kbd.core.plugins.confinement.layers import NO_LAYERS, Layers, SandboxLayer
from kbd.core.plugins.confinement.process import find_software
from kbd.core.plugins.worker_pool import Sandbox
from kbd.core.runtime.settings import SandboxMode
from kbd.errors import ToolWorkerUnavailable

FILES = SandboxLayer("landlock", holds=True, reason="version 7")
CALLS = SandboxLayer("seccomp", holds=True, reason="a filter")
NO_FILES = SandboxLayer("landlock", holds=False, reason="no Landlock here")
NO_CALLS = SandboxLayer("seccomp", holds=False, reason="no filters here")


def test_all_layers_are_full() -> None:
    """Nothing is missing, whatever the setting is."""
    modes: tuple[SandboxMode, ...] = ("required", "best_effort")
    for mode in modes:
        sandbox = Sandbox(mode, (FILES, CALLS))
        assert sandbox.layers == Layers(landlock=True, seccomp=True)
        assert (sandbox.level().level, sandbox.level().reason) == ("full", None)


def test_what_is_missing_is_named() -> None:
    """With some layers it is partial, with none only a process."""
    some = Sandbox("best_effort", (NO_FILES, CALLS))
    assert some.layers == Layers(landlock=False, seccomp=True)
    assert (some.level().level, some.level().reason) == ("partial", "no Landlock here")
    none = Sandbox("best_effort", (NO_FILES, NO_CALLS))
    assert none.layers == NO_LAYERS
    assert none.level().level == "process"
    assert none.level().reason == "no Landlock here; no filters here"


def test_what_is_required_is_not_done_without() -> None:
    """No call gets fewer layers than are required."""
    with pytest.raises(ToolWorkerUnavailable, match="no filters here") as raised:
        _ = Sandbox("required", (FILES, NO_CALLS)).layers
    assert not raised.value.retryable


def test_off_is_off() -> None:
    """It is switched off by name, and says so."""
    sandbox = Sandbox("off", (FILES, CALLS))
    assert sandbox.layers == NO_LAYERS
    assert sandbox.level().level == "off"


def test_no_software_is_looked_for_around_the_home(tmp_path: Path) -> None:
    """A folder above it is not readable, though Python's path holds it."""
    home = tmp_path / "project" / "home"
    home.mkdir(parents=True)
    inner = home / "stage"
    found = find_software([str(tmp_path / "project"), str(inner), *sys.path], str(home))

    assert str(tmp_path / "project") not in found.code
    assert str(inner) in found.code
    assert "/usr" in found.code
    assert not {"/", str(tmp_path)} & {*found.code, *found.programs}
