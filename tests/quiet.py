"""A connection that nobody listens on, for methods that are called without a socket."""

from collections.abc import Mapping

from kbd.core.server.dispatch import Stream
from kbd.events.base import Actor
from kbd.requests.base import Notification
from kbd.types import Seq, WorkbenchId

__all__ = ["Quiet"]


class Quiet:
    """A connection that nobody listens on, of a client that a test may name."""

    def __init__(self, actor: Actor | None = None) -> None:
        self.actor = actor or Actor("quiet", 1)

    def identify(self, client: str, version: str, host: str) -> None:
        """Take a name."""
        self.actor = Actor(client, self.actor.connection, version, host)

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
