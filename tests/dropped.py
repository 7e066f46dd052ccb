"""A watched folder with its inbox at work on a real log, and files that are dropped into it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec

from kbd.core.domain.watch_decisions import AddWatch
from kbd.core.runtime.settings import WatchSettings
from kbd.core.watch.inbox import Inbox
from kbd.core.watch.ingest import LandedCopies
from kbd.core.watch.tree import WatchedTree
from kbd.events.watches import FileLanded, PassedFile, WatchRule
from kbd.types import BlobHash, WatchId
from landings import DaemonLog, daemon_log

__all__ = ["QUIET_S", "WATCH", "Dropped", "dropped"]

WATCH = "00000000000000aa"
QUIET_S = 0.05


class Dropped:
    """The folder and what landed in it.

    Attributes:
        log: The daemon's log.
        folder: What is watched.
        copies: Copies of what landed.
        inbox: What looks at the folder.
    """

    def __init__(self, log: DaemonLog, folder: Path, settings: WatchSettings, limit: int) -> None:
        self.log, self.folder = log, folder
        self.copies = LandedCopies(log.home.landed(WatchId(WATCH)))
        self.inbox = Inbox(WatchId(WATCH), log.keeper, self.copies, settings, limit)

    def drop(self, path: str, content: str | None = None) -> Path:
        """Write a file, with its path as content if none is given."""
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(path if content is None else content)
        return place

    def landed(self) -> list[tuple[str, str]]:
        """Return the path and the content, or the failure's code, of what is to be worked on."""
        landings = self.log.watch(WATCH).landings.values()
        return sorted((each.path, self._content(each.sha256) or each.code) for each in landings)

    def _content(self, sha256: str) -> str:
        return self.copies.store.read(BlobHash(sha256)).decode() if sha256 else ""

    async def events(self) -> list[FileLanded]:
        """Return all that was recorded of files."""
        return await self.log.recorded(FileLanded)

    async def comes(self, *expected: str) -> None:
        """Wait until files landed whose content is their path, all is quiet, and no others did."""
        wanted = sorted((path, path) for path in expected)
        await until(lambda: self.landed() == wanted and self.inbox.is_quiet())

    async def quiet(self) -> None:
        """Wait until everything was looked at from now on, and nothing settles."""
        self.inbox.rescan()
        await until(self.inbox.is_quiet)


async def until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    with anyio.fail_after(30):
        while not is_so():  # noqa: ASYNC110 - what is waited for rings no bell for tests
            await anyio.sleep(0.01)


@asynccontextmanager
async def dropped(
    place: Path,
    *,
    limit: int = 1_000_000,
    settings: WatchSettings | None = None,
    pass_over: bool = False,
    run: bool = True,
    **rule: Any,
) -> AsyncIterator[Dropped]:
    """Watch the folder `in`, from the beginning or as far as the log says; by scans 50 ms apart.

    Args:
        place: Where the folder and the home are.
        limit: The largest file, in bytes.
        settings: Others than these.
        pass_over: Whether files that are there are not to be worked on.
        run: Whether the inbox works; if not, the test has it run.
        rule: Fields of the rule.
    """
    folder = place / "in"
    folder.mkdir(exist_ok=True)
    async with daemon_log(place / "home") as log:
        if WATCH not in log.keeper.state.watching.watches:
            plain = WatchRule("x", str(folder), "p", quiet_s=QUIET_S)
            made = msgspec.structs.replace(plain, **rule)
            with WatchedTree(str(folder)) as tree:
                there = [PassedFile(found.path, found.signature) for found in tree.walk()]
            passed = tuple(there) if pass_over else ()
            await log.keeper.submit(AddWatch(WatchId(WATCH), made, passed))
        desk = Dropped(log, folder, settings or WatchSettings(rescan_s=0.05, poll_s=0.05), limit)
        async with anyio.create_task_group() as tasks:
            if run:
                tasks.start_soon(desk.inbox.run)
            yield desk
            tasks.cancel_scope.cancel()
