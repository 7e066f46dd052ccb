"""Publish-subscribe hub of notifications, by workbench."""

from typing import Protocol

from kbd.requests.base import Notification
from kbd.rpc import notification

__all__ = ["Hub", "Listener"]


class Listener(Protocol):
    """A connection, as the hub knows it."""

    def push(self, line: bytes) -> None:
        """Take a message to send; returns at once."""


class Hub:
    """Tells each connection of the workbenches that it has named."""

    def __init__(self) -> None:
        self._listeners: dict[str, set[Listener]] = {}

    def announce(self, record: Notification) -> None:
        """Tell those who listen; encoded once, returns at once, slows nobody."""
        listeners = self._listeners.get(record.workbench_id)
        if listeners:
            line = notification(record)
            # A copy: a listener that is too slow leaves while it is told.
            for listener in tuple(listeners):
                listener.push(line)

    def join(self, workbench_id: str, listener: Listener) -> None:
        """Tell this listener of a workbench from now on."""
        self._listeners.setdefault(workbench_id, set()).add(listener)

    def leave(self, workbench_id: str, listener: Listener) -> None:
        """Tell it no more."""
        listeners = self._listeners.get(workbench_id, set())
        listeners.discard(listener)
        if not listeners:
            self._listeners.pop(workbench_id, None)
