"""Writing a run to one file that verifies itself."""

from functools import partial

from anyio import CapacityLimiter, from_thread
from anyio.to_thread import run_sync

from kbd.core.archive.contents import Wanted
from kbd.core.archive.exporting import export
from kbd.core.archive.placing import checked_target
from kbd.core.archive.writing import Written
from kbd.core.domain.run_state import RunStatus
from kbd.core.methods.shop import Shop
from kbd.core.server.dispatch import Handler, Session
from kbd.core.workbench.extraction import note_written
from kbd.errors import LogCorrupt, NotFound
from kbd.events.base import FileVersion
from kbd.requests import archives as wire
from kbd.requests.base import Request
from kbd.types import BlobHash, FileName

__all__ = ["CaseMethods"]

AT_ONCE = 4
"""How many case files are written at a time; more wait for their turn."""


class CaseMethods:
    """Exports runs."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop
        # Threads of their own: the disk that is written to may hang for ever.
        self._threads = CapacityLimiter(AT_ONCE)

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {wire.RunExport: self.export}

    async def export(self, request: wire.RunExport, session: Session) -> wire.RunExported:
        """Write a case file; nothing is recorded in the run's log.

        Raises:
            NotFound: There is no such run.
            LogCorrupt: Its log, or a blob that it names, is damaged.
            KbdError: The file cannot be written.
        """
        del session
        workbench_id, _, number = request.run_id.partition("-")
        bench = await self._shop.bench(workbench_id)
        with self._shop.benches.held(bench.id):
            if bench.damage is not None:
                raise LogCorrupt(bench.damage.message, detail=bench.damage.detail)
            try:
                run = bench.state.run(int(number))
            except IndexError:
                msg = f"there is no run {request.run_id}"
                raise NotFound(msg) from None
            wanted = Wanted(
                folders=bench.folders,
                number=run.number,
                end=bench.keeper.journal.log.end,
                is_active=run.status is RunStatus.RUNNING,
            )
            thread = partial(run_sync, limiter=self._threads, abandon_on_cancel=True)
            target = await thread(checked_target, request.target, self._shop.parts.home.folder)

            def announce(written: Written) -> None:
                """Tell the watcher, if it looks at the folder, that this file is no work for it."""
                file = FileVersion(
                    FileName(target.name), BlobHash(written.sha256), written.size_bytes
                )
                daemon = self._shop.benches.daemon
                from_thread.run(note_written, daemon, str(target.parent), (file,))

            made = await thread(export, wanted, target, announce)
        return wire.RunExported(
            run_id=request.run_id,
            target=str(target),
            size_bytes=made.size_bytes,
            seq=made.seq,
            head=made.head,
            blobs=made.blobs,
        )
