"""Maker of receipts: one for each publish, behind it, so that no publisher waits.

A receipt is a function of log and blobs. One that a crash or a stopped daemon left unmade is made
when the workbench is next opened, or when somebody asks for it. Its readable copy is written again
at the next opening if it is not there.
"""

import os
from itertools import islice
from pathlib import Path

import anyio
from anyio.to_thread import run_sync

from kbd.core.domain.commands import RecordFacts
from kbd.core.domain.workbench_state import PublishNote
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.event_loop import Notifier
from kbd.core.workbench.receipts import build_receipt, find_publish, is_current
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import KbdError
from kbd.events.base import Recorded
from kbd.events.drafts import PublishCompleted, ReceiptMade
from kbd.events.shortages import SYSTEM_FAILURES
from kbd.types import Seq, WorkbenchId

__all__ = ["ReceiptMaker"]

MAX_LATE = 5
"""Publishes whose receipts are made when a workbench is opened; older ones when they are asked
for. A workbench of an older kbd may have thousands."""

MAX_COPIES = 100
"""Newest publishes whose readable copies are looked for when a workbench is opened."""

_log = get_logger(__name__)


class ReceiptMaker:
    """Maker of the receipts of one workbench.

    Args:
        workbench: The workbench.
        formats: Its formats.
    """

    def __init__(self, workbench: OpenWorkbench, formats: FormatCalls) -> None:
        self._workbench, self._formats = workbench, formats
        self._due: list[str] = []
        self._arrived = Notifier()
        # One at a time: two who ask for the same one get the same one.
        self._making = anyio.Lock()

    @property
    def workbench_id(self) -> WorkbenchId:
        """The id of the workbench."""
        return self._workbench.id

    @property
    def is_idle(self) -> bool:
        """Whether no receipt is due or being made."""
        return not self._due and not self._making.locked()

    def catch_up(self) -> None:
        """Note the newest publishes that have no receipt."""
        newest = list(islice(self._workbench.state.publishes.newest(), MAX_LATE))[::-1]
        self._due = [each for each, note in newest if note.receipt is None]

    def observe(self, seq: Seq, record: Recorded) -> None:
        """Note a publish."""
        del seq
        if isinstance(record.data, PublishCompleted):
            self._due.append(record.data.checkpoint_id)
            self._arrived.ring()

    async def run(self) -> None:
        """Make what is due, for ever; one that cannot be made is left for who asks for it."""
        await self._restore_copies()
        while True:
            while not self._due:
                await self._arrived.wait()
            checkpoint_id = self._due.pop(0)
            try:
                await self.make(checkpoint_id)
            except (KbdError, *SYSTEM_FAILURES) as error:
                _log.warning(
                    "no_receipt", workbench=self._workbench.id, checkpoint=checkpoint_id,
                    error=str(error),
                )  # fmt: skip

    async def make(self, checkpoint_id: str | None) -> tuple[str, PublishNote, bytes]:
        """Return a receipt; it is made, or made again, where it is not there.

        Args:
            checkpoint_id: The checkpoint that the publish left; None for the newest one.

        Raises:
            NotFound: There is no such publish.
            KbdError: It cannot be made, or not be stored.
        """
        async with self._making:
            chosen, note = find_publish(self._workbench.state, checkpoint_id)
            data = None if note.receipt is None else await self._stored(note)
            # One that an older kbd made the check of today does not know.
            if data is None or not await run_sync(is_current, data):
                data = await build_receipt(self._workbench, self._formats, chosen, note)
                # As it is: it repeats what stands in files, whose bytes are not redacted either.
                blob = await run_sync(self._workbench.blobs.store.put_bytes, data)
                if blob != note.receipt:
                    made = ReceiptMade(chosen, blob, len(data))
                    await self._workbench.keeper.submit(RecordFacts((made,)))
                _, note = find_publish(self._workbench.state, chosen)
            await self._copy(chosen, data)
            return chosen, note, data

    async def _restore_copies(self) -> None:
        """Write the newest readable copies that are not there; a damaged receipt has none."""
        publishes = self._workbench.state.publishes
        there = await run_sync(_file_names, self._workbench.folders.receipts)
        for checkpoint_id, note in list(islice(publishes.newest(), MAX_COPIES))[::-1]:
            if note.receipt is not None and f"{checkpoint_id}.json" not in there:
                data = await self._stored(note)
                if data is not None:
                    await self._copy(checkpoint_id, data)

    async def _copy(self, checkpoint_id: str, data: bytes) -> None:
        copy = self._workbench.folders.receipts / f"{checkpoint_id}.json"
        try:
            await run_sync(_write_copy, copy, data)
        except SYSTEM_FAILURES as error:
            _log.warning("copy_not_written", copy=copy.name, fault=str(error))

    async def _stored(self, note: PublishNote) -> bytes | None:
        assert note.receipt is not None
        try:
            return await self._workbench.blobs.read(note.receipt)
        except KbdError:
            return None


def _file_names(folder: Path) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder))
    except OSError:
        return frozenset()


def _write_copy(path: Path, data: bytes) -> None:
    try:
        if path.stat().st_size == len(data) and path.read_bytes() == data:
            return
    except FileNotFoundError:
        pass
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_bytes(data)
    # Not synced: what a crash takes is written anew from the blob.
    os.replace(fresh, path)
