"""What the system tells of changes, and how the folder is looked at where it does not."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
import watchfiles
from anyio.to_thread import run_sync

from dropped import dropped, until
from kbd.core.runtime.settings import WatchSettings
from kbd.core.watch import hints
from kbd.core.watch.hints import ChangeHints

pytestmark = pytest.mark.anyio

NEVER = WatchSettings(rescan_s=3600.0, poll_s=3600.0)
"""No scan finds anything but the first ones: what lands was told."""


@asynccontextmanager
async def _heard(folder: Path) -> AsyncIterator[tuple[ChangeHints, list[tuple[str, ...] | None]]]:
    told: list[tuple[str, ...] | None] = []
    listening = ChangeHints(str(folder), told.append)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listening.run)
        yield listening, told
        tasks.cancel_scope.cancel()


@pytest.fixture
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven changes at once are many."""
    monkeypatch.setattr(hints, "_FEW", 6)


@pytest.mark.usefixtures("_few")
async def test_changes_are_told_once_listening_began(tmp_path: Path) -> None:
    """First that anything may be new, then where; no temporary names; of very many no places."""
    async with _heard(tmp_path) as (listening, told):
        await until(lambda: listening.is_listening)
        assert told == [None]
        (tmp_path / ".a.csv.swp").write_text("x")
        (tmp_path / "a.csv").write_text("x")
        await until(lambda: len(told) > 1)
        assert told[1] == ("a.csv",)
        await run_sync(lambda: [(tmp_path / f"{n}.csv").write_text("x") for n in range(40)])
        await until(lambda: None in told[1:])


async def test_what_the_system_tells_lands_without_a_scan(tmp_path: Path) -> None:
    """Files in new and in moved-in folders, replaced files; and after the root was made again."""
    (tmp_path / "away/deep").mkdir(parents=True)
    (tmp_path / "away/deep/c.csv").write_text("moved/deep/c.csv")
    async with dropped(tmp_path, settings=NEVER) as desk:
        await until(lambda: desk.inbox.health().hints == "system")
        await until(desk.inbox.is_quiet)
        desk.drop("a.csv")
        desk.drop("new/deep/b.csv")
        (tmp_path / "away").rename(desk.folder / "moved")
        await desk.comes("a.csv", "new/deep/b.csv", "moved/deep/c.csv")
        # The file system gives the new one the inode of the old one: only the system tells.
        inode = desk.folder.stat().st_ino
        shutil.rmtree(desk.folder)
        for _ in range(100):
            desk.folder.mkdir()
            if desk.folder.stat().st_ino == inode:
                break
            desk.folder.rmdir()
        desk.drop("again/d.csv")
        await desk.comes("a.csv", "new/deep/b.csv", "moved/deep/c.csv", "again/d.csv")
        await until(lambda: desk.inbox.health().hints == "system")


@pytest.mark.parametrize("why", ["limit", "network", "asked"])
async def test_where_nothing_is_told_the_folder_is_looked_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    """At the limits of the system, on a network disk, and when somebody wants it so.

    The 129th listener of a user is refused by the system; here the first is, with its error.
    """

    def refuse(folder: str, **_: object) -> None:
        raise RuntimeError(f'Too many open files about ["{folder}"]')

    if why == "limit":
        monkeypatch.setattr(watchfiles, "watch", refuse)
    elif why == "network":
        monkeypatch.setattr(hints, "is_remote", lambda _: True)
    else:
        monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "1")
    often = WatchSettings(rescan_s=3600.0, poll_s=0.05)
    async with dropped(tmp_path, settings=often) as desk:
        await until(lambda: bool(desk.inbox.health().reason))
        desk.drop("a.csv")
        await desk.comes("a.csv")
        health = desk.inbox.health()
    assert health.hints == "scan"
    assert str(tmp_path) not in health.reason
    words = {"limit": "Too many open files", "network": "network disk", "asked": "POLLING is set"}
    assert words[why] in health.reason


async def test_a_name_that_is_no_text_does_not_end_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The listener fails at it; the folder is looked through, and it listens again."""
    monkeypatch.setattr(hints, "_FIRST_PAUSE_S", 0.05)
    async with dropped(tmp_path, settings=NEVER) as desk:
        await until(lambda: desk.inbox.health().hints == "system")
        (desk.folder / "b\udcff.csv").write_text("x")
        await until(lambda: desk.landed() == [(r"b\udcff.csv", "SANDBOX_VIOLATION")])
        await until(lambda: desk.inbox.health().hints == "system")
        desk.drop("c.csv")
        await until(lambda: len(desk.landed()) == 2)
