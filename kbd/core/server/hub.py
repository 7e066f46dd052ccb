"""Publish-subscribe hub of notifications, by workbench."""

from typing import Protocol

from kbd.requests.base import Notification
from kbd.rpc import encode_notification

__all__ = ["Hub", "Listener"]


class Listener(Protocol):
    """Subscriber of the hub: a connection."""

    def push(self, line: bytes) -> None:
        """Queue a message to send; returns at once."""


class Hub:
    """Publishes each workbench's notifications to the connections that named it."""

    def __init__(self) -> None:
        self._listeners: dict[str, set[Listener]] = {}

    def announce(self, record: Notification) -> None:
        """Publish a notification; it is encoded once, and nobody is waited for."""
        listeners = self._listeners.get(record.workbench_id)
        if listeners:
            line = encode_notification(record)
            # A copy: a listener that is too slow leaves while it is told.
            for listener in tuple(listeners):
                listener.push(line)

    def join(self, workbench_id: str, listener: Listener) -> None:
        """Subscribe a listener to a workbench."""
        self._listeners.setdefault(workbench_id, set()).add(listener)

    def leave(self, workbench_id: str, listener: Listener) -> None:
        """Unsubscribe a listener from a workbench."""
        listeners = self._listeners.get(workbench_id, set())
        listeners.discard(listener)
        if not listeners:
            self._listeners.pop(workbench_id, None)
