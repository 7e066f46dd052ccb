"""Methods of logs: read, follow and verify them, and the blobs that they name."""

import base64
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, aclosing, suppress
from functools import partial

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.audit.home_logs import found_damage, verify_home_log
from kbd.core.domain.daemon_state import ArchivedCopy
from kbd.core.domain.log_outline import EventQuery
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.fairness import read_in_turn
from kbd.core.server import subscription_handlers
from kbd.core.server.dispatch import EventBatch, Handler, Session, Stream, Synced
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.scrub.scrubber import log_use
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.store.journal import Journal
from kbd.core.workbench.event_rows import FOLLOW_BATCH, EventRows
from kbd.errors import (
    BlobCollected,
    FileReadFailed,
    KbdError,
    NotFound,
    OutOfMemory,
    TooManyOpenFiles,
    TooManyProcesses,
    ValidationFailed,
)
from kbd.events.anchor import Anchor
from kbd.events.codec import parse_time
from kbd.events.shortages import known_error
from kbd.events.vocabulary import VERSIONS
from kbd.requests import daemon as wire_daemon
from kbd.requests import events as wire
from kbd.requests.base import UNSET, Request, Unset
from kbd.types import Seq, WorkbenchId

__all__ = ["LogMethods"]

_EVENT_TYPES = frozenset(kind.__name__ for kind in VERSIONS)


class LogMethods:
    """Handlers of logs: read, follow, verify."""

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._context, self._workbenches = context, workbenches

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.EventsRead: self.read,
            wire.BlobRead: self.blob,
            wire_daemon.LogHead: self.head,
            wire_daemon.LogVerify: self.verify,
            **subscription_handlers(self.follow),
        }

    async def read(self, request: wire.EventsRead, session: Session) -> wire.EventsFound:
        """Return events after a number, or the newest before one.

        Raises:
            ValidationFailed: There is no such type of event, the run is of another workbench, or a
                time is none.
        """
        del session
        query = _parse_query(request)
        workbenches, log_id = self._workbenches, WorkbenchId(request.workbench_id)
        if workbenches.archives.archived(log_id) is None:
            return await _read(await workbenches.event_rows(log_id), query, request)
        # It stays archived: who looks back at it changes nothing.
        async with workbenches.reading(log_id) as events:
            return await _read(events, query, request)

    async def blob(self, request: wire.BlobRead, session: Session) -> wire.BlobPart:
        """Return a part of a blob."""
        del session
        workbench = await self._workbenches.open(request.workbench_id)
        store = workbench.blobs.store
        try:
            size_bytes = await run_sync(store.size, request.hash)
        except BlobCollected:
            raise
        except NotFound:
            msg = "there is no such blob in this workbench"
            raise NotFound(msg) from None
        part = await read_in_turn(partial(store.read, request.hash, request.offset, request.limit))
        return wire.BlobPart(
            base64=base64.b64encode(part).decode(),
            size_bytes=size_bytes,
            has_more=request.offset + len(part) < size_bytes,
        )

    async def head(
        self, request: wire_daemon.LogHead, session: Session
    ) -> wire_daemon.LogHeadFound:
        """Return the last event's number and the chain value there."""
        del session
        end = (await self._journal(request.workbench_id)).log.end
        return wire_daemon.LogHeadFound(seq=Seq(end.seq), hash=end.chain.hex())

    async def verify(
        self, request: wire_daemon.LogVerify, session: Session
    ) -> wire_daemon.LogVerified:
        """Verify a whole log and all blobs that it names, those of an archive in the archive.

        What is found is recorded.

        Raises:
            FileReadFailed: A file of the log cannot be read.
            NotFound: There is no such workbench.
            ValidationFailed: Of a head that was kept, only the number or only the hash is given.
        """
        del session
        log_id, head, home = request.workbench_id, _parse_head(request), self._context.home
        while True:
            place = await self._place(log_id)
            use = log_use(self._workbenches, log_id)
            checked = partial(
                verify_home_log,
                home,
                log_id,
                durable=self._end(log_id),
                expected_head=head,
                archive=place[0],
                scratch=home.archives / "reading",
            )
            try:
                found = await read_in_turn(checked)
            except (NotFound, FileReadFailed):
                if place == await self._place(log_id):
                    raise
                continue
            # Packed or unpacked meanwhile: what went away was no damage.
            if not found.ok and place != await self._place(log_id):
                continue
            # What was in use meanwhile may look damaged.
            if found.ok or use == log_use(self._workbenches, log_id):
                with suppress(KbdError):
                    await self._context.verifications.finish(log_id, found_damage(found.faults))
            return found

    async def _place(self, log_id: str) -> tuple[ArchivedCopy | None, int]:
        """Return the archive that a workbench is packed in, and when it was unpacked last."""
        if log_id == "daemon":
            return None, 0
        known = self._workbenches.known(WorkbenchId(log_id))
        # Whoever packs or unpacks it now is waited for. And it is held, as every workbench that a
        # request names, so that from here on nothing of it is collected: what the log names when it
        # is read is there when it is looked for.
        await self._workbenches.end_of(known.workbench_id)
        known = self._workbenches.known(known.workbench_id)
        return known.archive, known.unarchived_at_us

    def _end(self, log_id: str) -> Anchor | None:
        """Return the end of a log that is open: its anchor on disk may lag behind."""
        workbenches = self._workbenches
        if log_id == "daemon":
            log = workbenches.daemon.journal.log
        elif (workbench := workbenches.opened(log_id)) is not None:
            log = workbench.keeper.journal.log
        else:
            return None
        return log.end if log.damage is None else None

    async def follow(self, subscription: str, cursors: Mapping[str, Seq]) -> Stream:
        """Open a stream of one log, or of all.

        Raises:
            NotFound: There is no such log.
            ValidationFailed: A cursor is past the end of its log.
        """
        if subscription != wire.EVERY_LOG:
            events = await self._workbenches.event_rows(subscription)
            after = _check_cursor(events.seq, cursors.get(subscription, Seq(0)))
            return _follow_one(subscription, events, after)
        ends = await self._ends()
        for log_id in ("daemon", *self._workbenches.ids()):
            if log_id in cursors:
                await self._check_end(log_id, cursors[log_id], ends)
        return self._all(dict(cursors), ends)

    async def _check_end(self, log_id: str, after: Seq, ends: Mapping[str, Seq]) -> None:
        """Raise ValidationFailed if a cursor is past the end of its log."""
        if (end := ends.get(log_id)) is not None:
            _check_cursor(end, after)
            return
        async with self._workbenches.reading(log_id) as events:
            _check_cursor(events.seq, after)

    async def _ends(self) -> dict[str, Seq]:
        """Return where the logs end; of one that was not read since it was found, nothing."""
        read = await self._context.index.ends()
        ends: dict[str, Seq] = {str(workbench_id): seq for workbench_id, seq in read.items()}
        return {**ends, "daemon": self._workbenches.daemon_events.seq}

    async def _all(
        self, cursors: dict[str, Seq], ends: Mapping[str, Seq]
    ) -> AsyncGenerator[EventBatch | Synced, None]:
        """Follow every log, those that are created later, too; none is opened for it."""
        # From before the first is read: what is recorded in it meanwhile is read after all.
        with self._context.index.followed() as changed:
            marks: dict[str, Seq] = {}
            for log_id in ("daemon", *self._workbenches.ids()):
                if ends.get(log_id) != cursors.get(log_id, Seq(0)):
                    async with aclosing(self._on(log_id, cursors)) as batches:
                        async for batch in batches:
                            yield batch
                elif log_id not in cursors:
                    cursors[log_id] = Seq(0)
                if log_id in cursors:
                    marks[log_id] = cursors[log_id]
            yield Synced(marks)
            while True:
                for log_id in await changed.take():
                    async with aclosing(self._on(log_id, cursors)) as batches:
                        async for batch in batches:
                            yield batch

    async def _on(self, log_id: str, cursors: dict[str, Seq]) -> AsyncGenerator[EventBatch, None]:
        """Read a log on from its cursor to its end, and move the cursor.

        One that is deleted while it is read ends there, and one that cannot be read is left out.
        Where the machine lacks what that takes, it is waited for: nothing is left out for it.
        """
        while True:
            try:
                async with aclosing(self._read_on(log_id, cursors)) as batches:
                    async for batch in batches:
                        yield batch
                return
            except Exception as fault:
                if not isinstance(known_error(fault), _SHORTAGES):
                    raise
                _log.warning("follower_waits", log=log_id, exc_info=fault)
            await anyio.sleep(_SHORTAGE_PAUSE_S)

    async def _read_on(
        self, log_id: str, cursors: dict[str, Seq]
    ) -> AsyncGenerator[EventBatch, None]:
        async with AsyncExitStack() as stack:
            try:
                events = await stack.enter_async_context(self._workbenches.reading(log_id))
            except _SHORTAGES:
                raise
            except KbdError:
                return
            history = _read_history(log_id, events, cursors.setdefault(log_id, Seq(0)), events.seq)
            try:
                async with aclosing(history) as batches:
                    async for batch in batches:
                        cursors[log_id] = Seq(batch.first_seq + len(batch.events) - 1)
                        yield batch
            except Exception:
                if log_id in ("daemon", *self._workbenches.ids()):
                    raise

    async def _journal(self, log_id: str) -> Journal:
        if log_id == "daemon":
            return self._workbenches.daemon.journal
        return (await self._workbenches.open(log_id)).keeper.journal


_SHORTAGES = (OutOfMemory, TooManyOpenFiles, TooManyProcesses)
_SHORTAGE_PAUSE_S = 1.0

_log = get_logger(__name__)


def _check_cursor(end: Seq, after: Seq) -> Seq:
    if after > end:
        msg = f"the log ends at {end}; there is nothing after {after}"
        raise ValidationFailed(msg, detail={"last_seq": end})
    return after


async def _read_history(
    log_id: str, events: EventRows, after: Seq, mark: Seq
) -> AsyncGenerator[EventBatch, None]:
    """Read a log from a cursor up to a mark."""
    while after < mark:
        rows = await events.rows(after, min(FOLLOW_BATCH, mark - after))
        yield EventBatch(log_id, after + 1, rows)
        after = Seq(after + len(rows))


async def _follow_one(
    log_id: str, events: EventRows, after: Seq
) -> AsyncGenerator[EventBatch | Synced, None]:
    """Follow one log: history, one mark, then live."""
    with events.followed():
        # Marked while followed: nothing between history and live is missed, or told twice.
        mark = events.seq
        async for batch in _read_history(log_id, events, after, mark):
            yield batch
        yield Synced({log_id: mark})
        async for last, rows in events.follow(mark):
            yield EventBatch(log_id, last - len(rows) + 1, rows)


async def _read(events: EventRows, query: EventQuery, request: wire.EventsRead) -> wire.EventsFound:
    last = events.seq
    before = last + 1 if request.before is UNSET else min(request.before, last + 1)
    if query.is_empty and not request.descending:
        limit = min(request.limit, max(before - request.after - 1, 0))
        rows = await events.read(request.after, limit) if limit else ()
        read_to = Seq(min(request.after, last) + len(rows))
    else:
        rows, read_to = await events.find(
            query, request.after, Seq(before), request.limit, descending=request.descending
        )
    found = tuple(msgspec.Raw(row) for row in rows)
    return wire.EventsFound(events=found, last_seq=last, read_to=read_to)


def _parse_query(request: wire.EventsRead) -> EventQuery:
    """Parse what `EventsRead` asks for."""
    types = frozenset(() if isinstance(request.types, Unset) else request.types)
    unknown = next((name for name in sorted(types) if name not in _EVENT_TYPES), None)
    if unknown is not None:
        msg = f"there is no type of event {unknown}"
        raise ValidationFailed(msg, detail={"type": unknown})
    run = 0
    if not isinstance(request.run_id, Unset):
        log_id, _, number = request.run_id.partition("-")
        if log_id != request.workbench_id:
            msg = f"the run {request.run_id} is of another workbench"
            raise ValidationFailed(msg)
        run = int(number)
    return EventQuery(types, run, _parse_us(request.since), _parse_us(request.until))


def _parse_us(text: str | Unset) -> int:
    if isinstance(text, Unset):
        return 0
    try:
        return parse_time(text)
    except ValueError:
        msg = f"{text} is no time"
        raise ValidationFailed(msg) from None


def _parse_head(request: wire_daemon.LogVerify) -> Anchor | None:
    """Parse the head of a log that a client stored, if it names one."""
    seq, value = request.seq, request.hash
    if seq is UNSET and value is UNSET:
        return None
    if seq is UNSET or value is UNSET:
        msg = "a head that was kept is both: `seq`, and the `hash` behind it"
        raise ValidationFailed(msg)
    return Anchor(seq, bytes.fromhex(value))
