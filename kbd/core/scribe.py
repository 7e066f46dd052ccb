"""A thread that writes, called and answered with as little delay as threads allow.

What is durable waits for the disk in a thread, or the event loop would stand still. The usual way
to one and back takes longer than many a disk takes to sync (measured here: 0.25 to 0.4 ms for
`anyio.to_thread`, 0.05 to 0.1 ms for this), and every command pays it. So a log has a thread of its
own, which sleeps on a queue.
"""

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

import anyio

from kbd.core.readiness import Wakeup, wakeup
from kbd.errors import ToolWorkerUnavailable

__all__ = ["Scribe"]

T = TypeVar("T")

_IDLE_S = 5.0
"""How long the thread waits for the next call before it ends; the next call starts another."""


class _Call(Generic[T]):
    """What is to be called, and what became of it."""

    __slots__ = ("error", "result", "work")

    def __init__(self, work: Callable[[], T]) -> None:
        self.work = work
        self.result: T | None = None
        self.error: BaseException | None = None


class Scribe(Generic[T]):
    """Makes blocking calls one after the other, in one thread that lives while there is work."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[_Call[T]] = SimpleQueue()
        # Held while the thread is started or takes its leave, so that no call is left lying.
        self._door = threading.Lock()
        self._is_awaited = False
        self._done: Wakeup | None = None

    async def call(self, work: Callable[[], T]) -> T:
        """Make a call and return its result; once begun it is waited for, even if cancelled.

        One call at a time: a log has one writer.

        Raises:
            ToolWorkerUnavailable: There are no threads or descriptors left; nothing was called.
            BaseException: What the call raised.
        """
        call = _Call(work)
        with self._door:
            if self._is_awaited:
                raise RuntimeError("a scribe is called again before it has answered")
            if self._done is None:
                self._done = self._started()
            self._is_awaited = True
        self._calls.put(call)
        with anyio.CancelScope(shield=True):
            await self._done.wait()
        self._is_awaited = False
        if call.error is not None:
            raise call.error
        return call.result  # type: ignore[return-value]  # a call that raised nothing has returned

    def _started(self) -> Wakeup:
        """Start the thread; return what it will ring."""
        try:
            done = wakeup()
            try:
                threading.Thread(target=self._work, args=(done,), daemon=True).start()
            except RuntimeError:
                done.close()
                raise
        except (OSError, RuntimeError) as error:
            raise ToolWorkerUnavailable("no thread can be started to write the log") from error
        return done

    def _work(self, done: Wakeup) -> None:
        while True:
            try:
                call = self._calls.get(timeout=_IDLE_S)
            except Empty:
                with self._door:
                    # Not while somebody is still to hear of the last call: it waits for `done`.
                    if not self._is_awaited:
                        done.close()
                        self._done = None
                        return
                continue
            try:
                call.result = call.work()
            except BaseException as error:  # noqa: BLE001 - raised where the call came from
                call.error = error
            del call
            done.ring()
