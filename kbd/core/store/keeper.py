"""The single writer of one log: commands in, one frame a batch, answers out.

The order is always the same: decide, persist, fold, tell. The Keeper takes every command that
waits, decides each on the state that the ones before it leave, appends all their events as one
frame, and only then folds them into the state that queries see, tells observers and answers. What
people open on disk is brought up to date before anybody is told, observers and followers of the log
included: who hears of a change and opens the file sees it. Nobody
sleeps to make a batch: what gathers while the disk syncs is the next one (facts: group commit makes
64 appends in flight some twenty times faster than one).

After a frame that the log refused (a full disk), commands go one by one until one is taken: such a
command needs no state that runs ahead of the log, so to refuse it again costs one append.

A task whose commands follow from one another, with nothing done outside between them, makes them in
a `Succession`: what it defers is decided at once and recorded in one frame with its next command,
so that a step of a run is one sync of the disk and not three. Until then nobody is told of it, and
whatever another client asks for meanwhile is decided behind it.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, Protocol, TypeVar

import anyio
import msgspec

from kbd.core.domain.decision import Decision
from kbd.core.domain.long_lists import copy_state
from kbd.core.runtime.clock import Clock
from kbd.core.runtime.event_loop import Notifier, Settle
from kbd.core.store.journal import Journal
from kbd.errors import KbdError, ToolWorkerUnavailable
from kbd.events.base import Actor, Recorded
from kbd.events.codec import wrap_event
from kbd.events.disk import LogPoisoned
from kbd.events.vocabulary import Event
from kbd.types import Seq

__all__ = ["Keeper", "Observer", "Outcome", "Redact", "Refresh", "Succession"]

DEFERRED_S = 0.05
"""How long what was deferred waits for a next command; a person who watches does not notice it."""


class _Folded(Protocol):
    seq: Seq


S = TypeVar("S", bound=_Folded)
C = TypeVar("C")

Observer = Callable[[Seq, Recorded], None]
"""Told of each event after it is durable and folded; returns at once and never raises."""


Refresh = Callable[[Sequence[Recorded]], Awaitable[None]]
"""Brings what people see on disk in line with a frame's events, which are durable and folded,
before anybody is told of them. Never raises, and is quick: the next frame waits for it."""


R = TypeVar("R")


class Redact(Protocol):
    """Blots what must not be kept out of an event or an actor."""

    def __call__(self, event: R, /) -> R:
        """Return the same one where there is nothing of it."""


def _as_it_is(event: R, /) -> R:
    return event


def _of_no_document(state: object, run: int, /) -> str:
    del state, run
    return ""


async def _refresh_nothing(records: Sequence[Recorded]) -> None:
    del records


class Outcome(msgspec.Struct, frozen=True):
    """Outcome of a command.

    Args:
        events: What was recorded; empty if there was nothing to do.
        run: The run they belong to, or 0.
        first: The number of the first of them, or 0.
        ts_us: The time that they carry.
    """

    events: tuple[Event, ...]
    run: int
    first: Seq
    ts_us: int


class _Submission(Generic[C]):
    """A submitted command, and its answer once there is one.

    Args:
        command: The command.
        actor: The client that asked for it, if one did.
        settle: Takes its answer, if no task waits for it.
        behind: The one that it follows from, if that was deferred: it fails with it.
    """

    __slots__ = ("actor", "behind", "command", "error", "outcome", "settle")

    def __init__(
        self,
        command: C,
        actor: Actor | None = None,
        settle: Settle[Outcome] | None = None,
        behind: "_Submission[C] | None" = None,
    ) -> None:
        self.command, self.actor = command, actor
        self.settle, self.behind = settle, behind
        self.outcome: Outcome | None = None
        self.error: Exception | None = None

    @property
    def answer(self) -> Outcome | Exception:
        """Answer to the command, once it is settled."""
        return self.outcome or self.error or ToolWorkerUnavailable("the workbench is closed")


class _Batch(Generic[C]):
    """Commands that are decided and recorded together; one event for all who wait for them."""

    __slots__ = ("done", "is_settled", "submissions")

    def __init__(self, *, is_settled: bool = False) -> None:
        self.submissions: list[_Submission[C]] = []
        self.done = Notifier()
        self.is_settled = is_settled

    def settle(self) -> None:
        """Answer all."""
        self.is_settled = True
        self.done.ring()
        for submission in self.submissions:
            if submission.settle is not None:
                submission.settle(submission.answer)


class Keeper(Generic[S, C]):
    """The single writer of one log.

    Args:
        journal: The log.
        blank: Makes the state before the first event.
        fold: Changes a state as an event says.
        decide: Answers a command with events, or raises a KbdError.
        clock: Tells the time that events carry.
        redact: Blots known keys out of an event and its actor, before it is folded and appended.
        document_of: Tells the hash of the job or recipe that a run carries out, "" for none; each
            of its events has it.
        deferred_s: How long what was deferred waits for a next command.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        blank: Callable[[], S],
        fold: Callable[[S, Seq, Recorded], None],
        decide: Callable[[S, C], Decision],
        clock: Clock,
        redact: Redact = _as_it_is,
        document_of: Callable[[S, int], str] = _of_no_document,
        deferred_s: float = DEFERRED_S,
    ) -> None:
        self.journal, self._redact, self._document_of = journal, redact, document_of
        self._blank, self._fold, self._decide, self._clock = blank, fold, decide, clock
        # Two copies: `_next` runs ahead within a batch, `_state` shows only what is durable. None
        # until the first batch of more than one command, and while `_next` holds what a refused
        # frame left in it; `_state` is copied when it is needed.
        self._state: S = blank()
        self._next: S | None = None
        self._is_refused = False
        # The batch that is worked on, and the one that gathers meanwhile.
        self._current: _Batch[C] = _Batch(is_settled=True)
        self._pending: _Batch[C] = _Batch()
        # Decided and folded into `_next`; the next frame begins with it.
        self._deferred: list[tuple[_Submission[C], Outcome]] = []
        self._deferred_records: list[Recorded] = []
        self._deferred_s, self._deferred_until_s = deferred_s, 0.0
        self._arrived = Notifier()
        self._observers: list[Observer] = []
        self._refresh: Refresh = _refresh_nothing
        self._stopped: Exception | None = None
        self._poison: LogPoisoned | None = None

    @property
    def state(self) -> S:
        """The durable state, read-only; the Keeper changes it between two awaits of the reader."""
        return self._state

    @property
    def ahead(self) -> S:
        """The state behind what was deferred, read-only: what it tells may not yet be durable."""
        return self._next if self._deferred and self._next is not None else self._state

    @property
    def is_idle(self) -> bool:
        """Whether no command is pending, deferred or being recorded."""
        is_recorded = self._current.is_settled and not self._deferred
        return is_recorded and not self._pending.submissions

    def observe(self, observer: Observer) -> None:
        """Register an observer of every event from now on."""
        self._observers.append(observer)

    def refresh_first(self, refresh: Refresh) -> None:
        """Set what is refreshed after a frame is folded and before anybody is told of it."""
        self._refresh = refresh

    async def load(self, snapshot: S | None = None) -> None:
        """Fold the log, from the state of a snapshot if there is one."""
        state = self._state = self._blank() if snapshot is None else snapshot

        def apply(number: int, record: Recorded) -> None:
            self._fold(state, Seq(number), record)

        await self.journal.replay(apply, state.seq)

    def amend(self, change: Callable[[S], None]) -> None:
        """Change the state of a log that is damaged by what is known from elsewhere.

        Nothing is recorded, and nothing is folded on it any more: a whole log alone says what is.
        """
        assert self.journal.log.damage is not None, "a log that is whole has the only word"
        change(self._state)

    async def submit(self, command: C, actor: Actor | None = None) -> Outcome:
        """Submit a command to be decided and recorded, and return its outcome.

        If the caller is canceled meanwhile the command may be recorded all the same.

        Args:
            command: The command.
            actor: The client that asked for it, if one did; each of its events names it.

        Raises:
            KbdError: It was refused, or the log could not take it; nothing happened.
        """
        return await self._settled(_Submission(command, actor))

    async def _settled(self, submission: _Submission[C]) -> Outcome:
        """Submit, and return the outcome once the command is recorded."""
        batch = self._pending
        self._enqueue(submission)
        await batch.done.wait()
        answer = submission.answer
        if isinstance(answer, Exception):
            raise answer
        return answer

    def succession(self) -> "Succession[S, C]":
        """Return a succession for the commands of one task."""
        return Succession(self)

    async def _defer(self, submission: _Submission[C]) -> Outcome:
        """Decide a command at once, to be recorded with what comes next.

        Raises:
            KbdError: It was refused; nothing happened.
        """
        # Nothing below need wait, and a task that only defers must not keep the others waiting.
        await anyio.lowlevel.checkpoint()
        # What is being recorded comes first, and may be refused: nothing is decided on it before.
        while not self._current.is_settled:
            await self._current.done.wait()
        self._check_writable()
        records, outcomes = self._decide_all([submission], self._speculative())
        if submission.error is not None:
            raise submission.error
        if not self._deferred:
            self._deferred_until_s = anyio.current_time() + self._deferred_s
        self._deferred += outcomes
        self._deferred_records += records
        self._arrived.ring()
        return outcomes[0][1]

    def poison(self, error: LogPoisoned) -> None:
        """Stop for good: the disk failed to make durable what a command is about to say is done.

        `run` raises the error, so that the daemon ends and the next one reads what is really there.
        """
        self._poison = error
        self._arrived.ring()

    def offer(self, command: C, settle: Settle[Outcome], actor: Actor | None = None) -> None:
        """Submit a command without a waiting task: `settle` is called once, later.

        Args:
            command: The command.
            settle: Takes what came of it.
            actor: As for `submit`.

        Raises:
            KbdError: It is refused already; `settle` is not called.
        """
        self._enqueue(_Submission(command, actor, settle))

    def _enqueue(self, submission: _Submission[C]) -> None:
        self._check_writable()
        self._pending.submissions.append(submission)
        self._arrived.ring()

    def _check_writable(self) -> None:
        if self._stopped is not None:
            raise self._stopped
        if self.journal.log.damage is not None:
            # Said at once: what the state as far as it can be read would answer misleads.
            raise self.journal.log.damage.with_traceback(None)

    async def run(self) -> None:
        """Work for ever; on a failing disk, fail everybody who waits and raise."""
        gathered = 0
        try:
            while True:
                await self._gathered()
                if self._poison is not None:
                    raise self._poison
                if gathered > 1:
                    # Under load, let requests that have arrived be read first: a fuller batch.
                    # Measured: 78 % more with 8 connections and 20 % less with one, hence only
                    # behind a fuller batch (facts/performance.md G).
                    await anyio.lowlevel.checkpoint()
                    await anyio.lowlevel.checkpoint()
                self._current, self._pending = self._pending, _Batch()
                gathered = len(self._current.submissions)
                await self._commit(self._current.submissions)
                # Last: who is answered finds the event durable, folded and told.
                self._current.settle()
        # Cancellation, too: nobody who waits may be left without an answer.
        except BaseException as error:
            self._stop(error)
            raise

    async def _gathered(self) -> None:
        """Wait until there is something to record, or the disk has failed."""
        while not self._pending.submissions and self._poison is None:
            if not self._deferred:
                await self._arrived.wait()
                continue
            # Nobody waits for it, so this makes no one slower; and a reply that was paid for is not
            # left to a crash while its run reads a large file.
            with anyio.CancelScope(deadline=self._deferred_until_s) as waited:
                await self._arrived.wait()
            if waited.cancelled_caught:
                return

    async def _commit(self, batch: list[_Submission[C]]) -> None:
        """Record a batch as one frame; after a refused one, a frame a command until one fits."""
        rest = batch
        if self._deferred and (self._is_refused or not rest):
            with self.journal.withheld():
                await self._record([])
        while rest:
            frame, rest = (rest[:1], rest[1:]) if self._is_refused else (rest, [])
            with self.journal.withheld():
                await self._record(frame)

    async def _record(self, frame: list[_Submission[C]]) -> None:
        """Decide, persist, fold, tell: in this order and no other."""
        # Of a command alone nothing is folded before it is durable, so nothing need be taken back.
        ahead = self._speculative() if len(frame) > 1 or self._deferred else None
        added, decided = self._decide_all(frame, ahead)
        records = self._deferred_records + added
        outcomes = self._deferred + decided
        first = self._state.seq + 1
        if records:
            try:
                await self.journal.append(records)
            except LogPoisoned:
                # Nobody knows what is on the disk: stop, never acknowledge, never retry.
                raise
            except KbdError as refused:
                self._is_refused = True
                if ahead is not None:
                    self._next = None
                for submission, _ in outcomes:
                    submission.error = refused
                self._deferred, self._deferred_records = [], []
                return
            self._is_refused = False
        for submission, outcome in outcomes:
            submission.outcome = outcome
        for seq, record in enumerate(records, first):
            self._fold(self._state, Seq(seq), record)
            if ahead is None and self._next is not None:
                self._fold(self._next, Seq(seq), record)
        # Behind the folds: until now `ahead` was further than the state.
        self._deferred, self._deferred_records = [], []
        await self._refresh(records)
        # In a second pass: an observer is told of an event on the state behind the whole frame.
        for seq, record in enumerate(records, first):
            for observer in self._observers:
                observer(Seq(seq), record)

    def _decide_all(
        self, frame: Sequence[_Submission[C]], ahead: S | None
    ) -> tuple[list[Recorded], list[tuple[_Submission[C], Outcome]]]:
        """Decide each command on the state that the ones before it leave.

        Args:
            frame: The commands.
            ahead: The copy of the state that runs ahead; None for a command alone.

        Returns:
            What is to be recorded, and what the commands lead to that are not refused.
        """
        records: list[Recorded] = []
        outcomes: list[tuple[_Submission[C], Outcome]] = []
        now_us = self._clock.now_us()
        state = self._state if ahead is None else ahead
        seq = state.seq
        for submission in frame:
            if submission.behind is not None and submission.behind.error is not None:
                submission.error = submission.behind.error
                continue
            try:
                decision = self._decide(state, submission.command)
                events = tuple(map(self._redact, decision.events))
            except KbdError as refusal:
                submission.error = refusal
                continue
            except Exception as fault:  # noqa: BLE001 - deciding is pure: one caller's fault is its own
                submission.error = fault
                continue
            first = Seq(seq + 1 if decision.events else 0)
            # A client's name is a text like any other.
            actor = submission.actor and self._redact(submission.actor)
            document = self._document_of(state, decision.run) if decision.run and events else ""
            for event in events:
                record = wrap_event(event, now_us, decision.run, decision.cause, actor, document)
                seq = Seq(seq + 1)
                if ahead is not None:
                    self._fold(ahead, seq, record)
                records.append(record)
            outcomes.append((submission, Outcome(events, decision.run, first, now_us)))
        return records, outcomes

    def _speculative(self) -> S:
        """Return the speculative copy of the state, brought to what is durable if it is not there.

        That a state comes back as it was is what snapshots rest on; the log is not read again.
        """
        if self._next is None:
            # A fold has no inverse, so the copy that ran ahead is made anew from the durable one.
            self._next = copy_state(self._state, type(self._state))
        return self._next

    def _stop(self, error: BaseException) -> None:
        """Answer everybody who waits: nothing more will be recorded."""
        stopped = ToolWorkerUnavailable("the daemon is stopping")
        self._stopped = error if isinstance(error, KbdError) else stopped
        for batch in (self._current, self._pending):
            if not batch.is_settled:
                for submission in batch.submissions:
                    # What is durable was recorded, and is answered so.
                    if submission.outcome is None:
                        submission.error = submission.error or self._stopped
                batch.settle()


class Succession(Generic[S, C]):
    """The commands of one task to a Keeper, each decided on what those before it lead to.

    Made by `Keeper.succession`. A command that is deferred must not be told, or acted on outside of
    the log, before the next `submit` has returned: only then is it durable. Where it cannot be
    recorded (a full disk), the next command fails with the same error, and is not decided.
    """

    def __init__(self, keeper: Keeper[S, C]) -> None:
        self._keeper = keeper
        self._last: _Submission[C] | None = None

    @property
    def state(self) -> S:
        """The state behind all commands, the deferred ones included; read-only."""
        return self._keeper.ahead

    async def defer(self, command: C) -> Outcome:
        """Decide a command, to be recorded in one frame with the next, or alone if none comes soon.

        Raises:
            KbdError: It was refused, or the deferred one before it could not be recorded.
        """
        submission = self._follow(command)
        outcome = await self._keeper._defer(submission)  # noqa: SLF001 - its own other half
        self._last = submission
        return outcome

    async def submit(self, command: C) -> Outcome:
        """Submit a command behind the deferred ones; all are durable on return.

        Raises:
            KbdError: It was refused, or a deferred one could not be recorded.
        """
        return await self._keeper._settled(self._follow(command))  # noqa: SLF001 - as above

    def _follow(self, command: C) -> _Submission[C]:
        # Behind its last only: what could not be recorded is told once, and the task goes on.
        last, self._last = self._last, None
        return _Submission(command, behind=last)
