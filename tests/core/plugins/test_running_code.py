"""The file that names the plugin whose code runs: it outlives its process, and is nobody else's."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from kbd.core.plugins.faults import PluginFaults
from kbd.core.plugins.running_code import PluginCode, RunningCode

ACME = PluginCode("acme", "1.2")
OTHER = PluginCode("other", "")


def _in_a_child(work: Callable[[], object]) -> int:
    process = os.fork()
    if not process:
        try:
            work()
        finally:
            os._exit(9)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def test_who_ended_a_process_is_named_to_the_next(tmp_path: Path) -> None:
    """Whoever's step was under way; a plugin of kbd's own, and one whose step ended, is not."""
    file = tmp_path / "plugin"

    def leave() -> None:
        faults = PluginFaults(exempt={"ours"}, running=RunningCode(file))
        faults.versions = {"acme": "1.2", "ours": "9"}
        with faults.step("other", "its step"):
            pass
        with faults.step("acme", "its step"), faults.step("ours", "a step within"):
            os._exit(0)

    assert _in_a_child(leave) == 0
    after = RunningCode(file)
    assert after.left == ACME
    after.clear()
    assert RunningCode(file).left is None
    assert file.stat().st_mode & 0o777 == 0o600


def test_code_of_several_threads_ends_in_any_order(tmp_path: Path) -> None:
    """What began last of what still runs is named; when all has ended, nothing is."""
    running = RunningCode(tmp_path / "plugin")
    began, end = threading.Event(), threading.Event()

    def work() -> None:
        with running.entered(OTHER):
            began.set()
            end.wait(60)

    thread = threading.Thread(target=work)
    with running.entered(ACME):
        thread.start()
        assert began.wait(60)
        assert RunningCode(tmp_path / "plugin").left == OTHER
    assert RunningCode(tmp_path / "plugin").left == OTHER
    end.set()
    thread.join()
    assert RunningCode(tmp_path / "plugin").left is None


@pytest.mark.parametrize("kind", ["link", "second name", "pipe", "folder", "no folder"])
def test_a_file_that_is_not_ours_is_left_alone(tmp_path: Path, kind: str) -> None:
    """It may be anybody's: nothing is written over, and nobody waits for it."""
    file, theirs = tmp_path / "at" / "plugin", tmp_path / "theirs"
    theirs.write_bytes(b"x" * 2000)
    if kind != "no folder":
        file.parent.mkdir()
    match kind:
        case "link":
            file.symlink_to(theirs)
        case "second name":
            file.hardlink_to(theirs)
        case "pipe":
            os.mkfifo(file)
        case "folder":
            file.mkdir()
    running = RunningCode(file)
    with running.entered(ACME):
        assert running.left is None
    assert theirs.read_bytes() == b"x" * 2000


def test_long_names_are_cut(tmp_path: Path) -> None:
    """A name has its place, whatever it is called: the version stays apart from it."""
    with RunningCode(tmp_path / "plugin").entered(PluginCode("ü" * 3000, "9" * 3000)):
        left = RunningCode(tmp_path / "plugin").left
    assert left is not None
    assert (left.name[:9], left.version) == ("ü" * 9, "9" * 500)
