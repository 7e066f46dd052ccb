"""Runs a task on each of many files in children that are killed when they hang or die.

A hostile file may make a library abort the process or never end; here it costs one child.
"""

import multiprocessing
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Generic, NamedTuple, TypeVar

__all__ = ["Trial", "run_each"]

Item = TypeVar("Item")
Result = TypeVar("Result")

MEMORY_BYTES = 6 << 30
"""The address space of a child; the figures of facts were measured with the same bound."""


class Trial(NamedTuple, Generic[Item, Result]):
    """What came of one item: a result, or why there is none ("hang", "crash", an error's text)."""

    item: Item
    result: Result | None
    failure: str


def _serve(task: Callable[[Item], Result], pipe: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    while True:
        try:
            item = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send((task(item), ""))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
            pipe.send((None, f"{type(error).__name__}: {error}"[:300]))


class _Child:
    def __init__(self, task: Callable[[Item], Result]) -> None:
        spawning = multiprocessing.get_context("spawn")
        self.pipe, theirs = spawning.Pipe()
        self.process = spawning.Process(target=_serve, args=(task, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.item: object = None
        self.since, self.cpu_s = 0.0, 0.0

    def give(self, item: object) -> None:
        self.item, self.since, self.cpu_s = item, time.monotonic(), self._cpu_s()
        self.pipe.send(item)

    def _cpu_s(self) -> float:
        """The process time of the child: Linux has a clock for every process, by its number."""
        try:
            return time.clock_gettime((~(self.process.pid or 0) << 3) | 2)
        except OSError:
            return 0.0

    def spent_s(self) -> float:
        """How long the item takes: by its process time, or a fifth of the time that passed.

        A busy machine makes no file hang, and one that waits for ever spends no process time.
        """
        return max(self._cpu_s() - self.cpu_s, (time.monotonic() - self.since) / 5)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def run_each(
    task: Callable[[Item], Result], items: Sequence[Item], limit_s: float = 40, count: int = 2
) -> Iterator[Trial[Item, Result]]:
    """Yield what comes of each item, in the order in which they end.

    Args:
        task: A function of an importable module.
        items: What to give it; each is pickled.
        limit_s: How long one item may take before its child is killed (see `spent_s`).
        count: How many children work at once.
    """
    waiting = list(reversed(items))
    idle = [_Child(task) for _ in range(min(count, len(items)))]
    busy: list[_Child] = []
    try:
        while waiting or busy:
            while waiting and idle:
                child = idle.pop()
                child.give(waiting.pop())
                busy.append(child)
            ready = wait([child.pipe for child in busy], timeout=0.5)
            for child in list(busy):
                failure, result = "", None
                if child.pipe in ready:
                    try:
                        result, failure = child.pipe.recv()
                    except EOFError:
                        failure = "crash"
                elif child.spent_s() > limit_s:
                    failure = "hang"
                else:
                    continue
                busy.remove(child)
                yield Trial(child.item, result, failure)  # type: ignore[arg-type]
                if failure in ("crash", "hang"):
                    child.end()
                    child = _Child(task)
                idle.append(child)
    finally:
        for child in [*idle, *busy]:
            child.end()
