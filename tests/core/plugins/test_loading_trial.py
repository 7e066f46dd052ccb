"""The trial of strangers' plugins: what ends the process that loads it ends no daemon."""

import faulthandler
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbd.core.plugins import loading_trial
from kbd.core.plugins.hooks import EntryPoint
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.loading_trial import try_loading
from kbd.core.plugins.running_code import PluginCode
from kbd.core.runtime.settings import Settings

HOOK = """
from kbd import hookimpl
@hookimpl
def kbd_register_tools(settings):
"""

TEXTS = {
    "leaves": "import os; os._exit(0)",
    "crashes": "import ctypes; ctypes.string_at(0)",
    "aborts": "import os; os.abort()",
    "hook": f"{HOOK}    import os; os._exit(7)",
    "raises": "raise ValueError",
    "fine": f"{HOOK}    return []",
}

HOLDS = "import ctypes; ctypes.PyDLL(None).sleep(600)"
"""Holds the interpreter: no other thread of the process runs."""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Path]:
    """A folder of modules that can be imported, and whose crashes print no traceback."""
    sys.path.insert(0, str(tmp_path))
    faulthandler.disable()
    yield tmp_path
    faulthandler.enable()
    sys.path.remove(str(tmp_path))


def _points(site: Path, texts: dict[str, str]) -> list[EntryPoint]:
    for name, text in texts.items():
        (site / f"trial_{name}.py").write_text(text)
    return [EntryPoint(name, f"trial_{name}", "2", "theirs") for name in texts]


def test_whatever_ends_the_process_is_named_with_how(site: Path) -> None:
    """Each of several, at import and in a hook; what only fails, or is fine, is not in it."""
    found = _points(site, TEXTS)

    left_out = try_loading(Settings(), {}, found=found)

    assert left_out == {
        PluginCode("leaves", "2"): "loading it ends the process (exit code 0)",
        PluginCode("crashes", "2"): "loading it ends the process (SIGSEGV)",
        PluginCode("aborts", "2"): "loading it ends the process (SIGABRT)",
        PluginCode("hook", "2"): "loading it ends the process (exit code 7)",
    }
    statuses = Plugins.discover(Settings(), found=found, left_out=left_out).statuses
    assert {each.name: each.reason for each in statuses if each.name in TEXTS} == {
        **{code.name: reason for code, reason in left_out.items()},
        "raises": "ValueError",
        "fine": "it declares nothing",
    }


@pytest.mark.full
def test_what_holds_the_interpreter_or_is_late_holds_up_no_daemon(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are left out, with the reason; the time of what is late is not waited for again."""
    monkeypatch.setattr(loading_trial, "LOADING_S", 1.0)
    monkeypatch.setattr(loading_trial, "_GRACE_S", 0.0)
    found = _points(site, {"hangs": "import time\nwhile True: time.sleep(0.01)", "holds": HOLDS})

    left_out = try_loading(Settings(), {}, found=found)

    assert left_out == {
        PluginCode("hangs", "2"): "it took more than 0.5 s",
        PluginCode("holds", "2"): "loading it holds up the process for ever",
    }


def test_a_blocked_one_is_not_tried(site: Path) -> None:
    """None of its code runs."""
    found = _points(site, {"leaves": f"open({str(site / 'ran')!r}, 'x')"})
    assert try_loading(Settings(blocked_plugins=("leaves",)), {}, found=found) == {}
    assert not (site / "ran").exists()
    assert try_loading(Settings(), {}, found=found) == {}
    assert (site / "ran").exists()


def test_a_machine_at_its_end_loads_untried(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no process can be had, the daemon starts as it did."""

    def fork() -> int:
        raise BlockingIOError(11, "no more processes")

    monkeypatch.setattr(os, "fork", fork)
    assert try_loading(Settings(), {}, found=_points(site, {"fine": TEXTS["fine"]})) == {}


def test_without_strangers_nothing_is_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has only what comes with kbd pays nothing at a start."""
    monkeypatch.delattr(os, "fork")
    assert try_loading(Settings(), {}, found=[EntryPoint("csv", "kbd_csv", "0", "kbd")]) == {}
