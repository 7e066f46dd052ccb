"""A disk that is really full, at each stage of a publish, an undo, a recovery and a rebase.

So little is left free that it ends in the middle, a page more each time until it is enough. What is
refused is told as DISK_FULL and changed nothing; with room again the same call goes through. That
does not hang on the event loop: the second tier tries two of the works on each.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from backends import halved
from kbd.client.blocking import RemoteError
from real_daemon import RealDaemon
from whole.disks import tiny_disk
from wired import Script, Wired

pytestmark = [halved, pytest.mark.full, pytest.mark.timeout(900)]

DISK_BYTES = 64 << 20
FILES = 12
LINES = 4000
"""About 60 KB a file."""

FREE_KIB = (0, 4, 16, 64, 128, 256, 512, 1024, 2048)


def _text(mark: str, number: int) -> str:
    return "".join(f"{mark} {number} {line}\n" for line in range(LINES))


class _Full:
    """A daemon on a disk that can be filled.

    Args:
        wire: The daemon.
        disk: Where its home lies.
    """

    def __init__(self, wire: Wired, disk: Path) -> None:
        self.wire, self._disk = wire, disk
        self.wb = ""

    def fill(self, free_kib: int) -> None:
        """Leave so much free."""
        with (self._disk / "ballast").open("wb") as file:
            while True:
                free = os.statvfs(self._disk)
                size = free.f_bavail * free.f_bsize - free_kib * 1024
                # A receipt or a snapshot may be written at this moment.
                with suppress(OSError):
                    os.posix_fallocate(file.fileno(), 0, size)
                    return

    def empty(self) -> None:
        """Make room."""
        (self._disk / "ballast").unlink()

    def begin(self) -> None:
        """Make a workbench with files and a draft of all of them."""
        files = [self.wire.file(f"f{n}.txt", _text("old", n)) for n in range(FILES)]
        self.wb = self.wire.daemon.workbench(*files)
        self.edit("new")

    def edit(self, mark: str) -> None:
        """Write all files into the draft."""
        for number in range(FILES):
            arguments = {"path": f"f{number}.txt", "content": _text(mark, number)}
            params = {"workbench_id": self.wb, "name": "write_text_file", "arguments": arguments}
            self.wire.ask("ToolsCall", **params)

    def ask(self, method: str, **params: object) -> None:
        """Ask about the workbench."""
        self.wire.ask(method, workbench_id=self.wb, **params)

    def published(self) -> dict[str, str]:
        """What is there."""
        folder = self.wire.published(self.wb)
        return {path.name: path.read_text() for path in folder.iterdir()}

    def state(self) -> tuple[dict[str, str], dict[str, str], str]:
        """What is published, what the draft changes, and its name."""
        draft = self.wire.ask("DraftGetState", workbench_id=self.wb)
        return self.published(), self.wire.changes(self.wb), draft.get("draft_id", "")


@pytest.fixture
def full(short_dir: Path, tmp_path: Path, anyio_backend: str) -> Iterator[_Full]:
    """A daemon whose home lies on a small disk of its own."""
    disk = short_dir / "disk"
    with tiny_disk(disk, DISK_BYTES):
        daemon = RealDaemon(disk / "h", anyio_backend, {})
        daemon.start()
        try:
            yield _Full(Wired(daemon, tmp_path, Script()), disk)
        finally:
            daemon.stop()


def _publish(full: _Full) -> None:
    full.ask("DraftPublish")


def _undo(full: _Full) -> None:
    messages = full.wire.ask("WorkshopGetConversation", workbench_id=full.wb)["messages"]
    asked = next(each["message_id"] for each in messages if each["role"] == "user")
    full.ask("WorkshopUndoToMessage", message_id=asked)


def _prepare_undo(full: _Full) -> None:
    full.ask("DraftDiscard")
    full.ask("WorkshopSendUserMessage", text="work")
    full.edit("new")
    full.ask("DraftPublish")


def _prepare_recovery(full: _Full) -> None:
    full.ask("DraftDiscard")


def _recover(full: _Full) -> None:
    full.ask("WorkbenchRecover")


def _prepare_rebase(full: _Full) -> None:
    for path in full.wire.published(full.wb).iterdir():
        path.write_text(path.read_text() + "theirs\n")
    full.ask("DraftDiscard")
    for number in range(FILES):
        content = _text("old", number).replace(f"old {number} 0\n", "ours\n")
        arguments = {"path": f"f{number}.txt", "content": content}
        full.ask("ToolsCall", name="write_text_file", arguments=arguments)


def _rebase(full: _Full) -> None:
    found = full.wire.ask("DraftRebase", workbench_id=full.wb)
    assert found["conflicts"] == []


WORKS: dict[str, tuple[Callable[[_Full], None], Callable[[_Full], None]]] = {
    "publish": (lambda full: None, _publish),
    "undo": (_prepare_undo, _undo),
    "recover": (_prepare_recovery, _recover),
    "rebase": (_prepare_rebase, _rebase),
}


def _await_shown(full: _Full, free_kib: int) -> None:
    """Wait until draft/ holds what the draft has, and nothing is staged any more.

    While the disk was full it was not to be written; it is written anew beside what is asked.
    """
    folder = full.wire.published(full.wb).parent
    changed = full.wire.changes(full.wb)
    end_s = time.monotonic() + 20
    while {path.name for path in (folder / "draft").glob("*")} != set(changed) or [
        *(folder / "stage").iterdir()
    ]:
        assert time.monotonic() < end_s, (free_kib, [*(folder / "stage").iterdir()])
        time.sleep(0.1)


def _code(full: _Full, work: Callable[[_Full], None]) -> str:
    """Do it, and return the code of its refusal, or ""."""
    try:
        work(full)
    except RemoteError as error:
        return str(error.data["error_code"])
    return ""


@pytest.mark.parametrize("name", WORKS)
def test_a_full_disk_leaves_all_or_nothing(full: _Full, name: str) -> None:
    """However little is free; no partial file, and nothing lost when there is room again."""
    prepare, work = WORKS[name]
    refused = 0
    for free_kib in FREE_KIB:
        full.begin()
        prepare(full)
        before = full.state()
        full.fill(free_kib)
        code = _code(full, work)
        assert code in ("", "DISK_FULL")
        is_refused = code != ""
        refused += is_refused
        if is_refused:
            assert full.published() == before[0], free_kib
        full.empty()
        if is_refused:
            assert full.state() == before, free_kib
            work(full)
        assert full.state() != before, free_kib
        assert full.wire.ask("LogVerify", workbench_id=full.wb)["ok"]
        _await_shown(full, free_kib)
        if full.state()[1]:
            full.ask("DraftDiscard")
        full.ask("WorkbenchDelete")
    # Some were too little, the last one is enough. A recovery needs an event alone, for which the
    # log has room.
    assert (name != "recover") <= refused < len(FREE_KIB)
