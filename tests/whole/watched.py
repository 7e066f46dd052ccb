"""Watched folders of the real daemon: rules, dropped files, what became of them."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from real_daemon import RealDaemon

__all__ = ["QUIET_S", "SALES", "SORT", "Inbox", "Watched", "eventually", "shop_at"]

SALES = "Day,Kind,Sum\n2024-01-02,Food,1.50\n2024-01-01,Rent,700.00\n2024-01-03,Food,2.25\n"
SORT = "sort by Day"
"""The cheapest request that changes something: `x.csv` becomes `x-sorted.csv`."""

QUIET_S = 0.2


def eventually(said: str, holds: Callable[[], Any], timeout_s: float = 120.0) -> Any:
    """Wait until something holds, and return it."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if found := holds():
            return found
        time.sleep(0.1)
    raise AssertionError(said)


class Inbox:
    """A watched folder.

    Attributes:
        folder: The folder.
        outbox: Where its rule delivers.
        watch_id: The watch.
    """

    def __init__(self, daemon: RealDaemon, folder: Path, outbox: Path, watch_id: str) -> None:
        self._daemon = daemon
        self.folder, self.outbox, self.watch_id = folder, outbox, watch_id

    def drop(self, name: str, content: str | bytes = SALES) -> Path:
        """Let a file land whole: it is written elsewhere and renamed."""
        data = content.encode() if isinstance(content, str) else content
        whole = self.folder.parent / f"{self.folder.name}-drop.tmp"
        whole.write_bytes(data)
        return whole.rename(self.folder / name)

    def shown(self) -> dict[str, Any]:
        """Return the watch as a client sees it."""
        watch: dict[str, Any] = self._daemon.ask("WatchGet", watch_id=self.watch_id)["watch"]
        return watch

    def settled(self, landed: int, timeout_s: float = 120.0) -> dict[str, Any]:
        """Wait until so many files landed and none waits or is worked on; return the watch."""
        # What is told of watches wakes this client, so that a busy machine is not asked for ever.
        deadline = time.monotonic() + timeout_s
        with self._daemon.client() as client:
            client.on_notification = lambda method, params: None
            while time.monotonic() < deadline:
                watch = client.send("WatchGet", {"watch_id": self.watch_id})["watch"]
                if watch["landed"] >= landed and not watch["waiting"] + watch["running"]:
                    assert watch["landed"] == landed, watch
                    return dict(watch)
                client.wait(0.5)
        msg = f"{landed} landings do not settle: {self.folder.name}"
        raise AssertionError(msg)

    def failed(self) -> dict[str, dict[str, Any]]:
        """Return what is parked, by path."""
        found = self._daemon.ask("WatchFailedList", watch_id=self.watch_id)
        return {row["path"]: row for row in found["failed"]}

    def retry(self) -> None:
        """Have everything that is parked worked on after all."""
        self._daemon.ask("WatchFailedRetry", watch_id=self.watch_id)

    def next_file_runs(self, landed: int) -> None:
        """See that what is parked holds nothing up: one more file lands, the given one by count."""
        self.drop("next.csv", f"{SALES}2024-01-04,Next,{landed}.00\n")
        newest = self.settled(landed)["recent"][0]
        assert (newest["paths"], newest["outcome"]) == (["next.csv"], "published"), newest

    def recorded(self) -> list[dict[str, Any]]:
        """Return what the daemon's log says of this watch."""
        events = self._daemon.events("daemon")
        return [event for event in events if event["data"].get("watch_id") == self.watch_id]

    def delivered(self) -> dict[str, bytes]:
        """Return what lies in the outbox, whatever it is called."""
        return {
            str(path.relative_to(self.outbox)): path.read_bytes()
            for path in sorted(self.outbox.rglob("*"))
            if path.is_file()
        }


class Watched:
    """A daemon and its watched folders.

    Args:
        daemon: The daemon, which runs.
        folder: Where inboxes and outboxes are made.
    """

    def __init__(self, daemon: RealDaemon, folder: Path) -> None:
        self.daemon, self.folder = daemon, folder.resolve()

    def inbox(self, name: str, prompt: str = SORT, **rule: Any) -> Inbox:
        """Watch a new folder; the rule publishes and delivers unless it says otherwise."""
        folder, outbox = self.folder / name, self.folder / f"{name}-out"
        folder.mkdir(exist_ok=True)
        given: dict[str, Any] = {"publish": "auto", "quiet_s": QUIET_S, "deliver_to": str(outbox)}
        given |= rule
        if given["publish"] == "review":
            del given["deliver_to"]
        added = self.daemon.ask("WatchAdd", folder=str(folder), prompt=prompt, **given)
        delivers = Path(given.get("deliver_to", outbox))
        return Inbox(self.daemon, folder, delivers, added["watch_id"])

    def types(self, workbench_id: str) -> list[str]:
        """Return the types of what a log holds, in order."""
        return [event["type"] for event in self.daemon.events(workbench_id)]

    def verify(self, workbench_id: str = "daemon") -> None:
        """See that a log is whole."""
        assert self.daemon.ask("LogVerify", workbench_id=workbench_id)["ok"]


@contextmanager
def shop_at(
    folder: Path, backend: str, *, preface: str = "", **environment: str
) -> Iterator[Watched]:
    """Run a daemon that is quick to give a provider up."""
    daemon = RealDaemon(folder / "h", backend, {"KBD_RUN_RETRY_S": "0.01"} | environment, preface)
    daemon.start()
    try:
        yield Watched(daemon, folder)
    finally:
        daemon.stop()
