"""A connection that nobody listens on, for methods that are called without a socket."""

from collections.abc import Mapping

from kbd.core.server.dispatch import Stream
from kbd.requests.base import Notification
from kbd.types import Seq, WorkbenchId

__all__ = ["Quiet"]


class Quiet:
    """A connection that nobody listens on."""

    def name(self, workbench_id: WorkbenchId) -> None:
        """Do nothing."""

    def notify(self, notification: Notification) -> None:
        """Do nothing."""

    def subscribe(self, subscription: str, stream: Stream, cursors: Mapping[str, Seq]) -> None:
        """Refuse: nobody asks here."""
        raise AssertionError(subscription)

    def unsubscribe(self, subscription: str) -> bool:
        """Refuse: nobody asks here."""
        raise AssertionError(subscription)
