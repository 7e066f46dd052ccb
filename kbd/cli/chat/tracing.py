"""Tool calls in full, as the log records them: what was asked, how much came back."""

from types import TracebackType
from typing import Any, Self

from kbd.cli.chat.session import Session
from kbd.cli.exits import Stop
from kbd.cli.reading import events_of, title_of
from kbd.cli.terminal import line
from kbd.client.blocking import Client

__all__ = ["Trace"]

TITLE_COLUMNS = 200

_TOLD = frozenset({"ToolCalled", "ToolRefused", "ToolReturned"})


class Trace:
    """Turns events of a run into lines, while inside.

    That there are events is heard on the session's connection, where the run's end is waited for;
    what they tell is asked for on another one, for an answer would be lost on that.

    Args:
        session: The conversation.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._client: Client | None = None

    def __enter__(self) -> Self:
        self._session.ask("EventsSubscribe", after=self._session.ask("LogHead")["seq"])
        self._client = self._session.another_client()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
        if error is None:
            self._session.ask("EventsUnsubscribe")
        else:
            self._session.drop()  # and with it the subscription

    def lines(self, events: list[dict[str, Any]]) -> list[str]:
        """Return what is to be told of these events, one behind the other."""
        if self._client is None or not any(event["type"] in _TOLD for event in events):
            return []
        first, last = events[0]["seq"], events[-1]["seq"]
        try:
            rows = list(events_of(self._client, self._session.workbench_id, first - 1, last))
        except Stop:
            rows = events  # Their types are better than nothing; why is told elsewhere.
        told = (row for row in rows if row["type"] in _TOLD)
        return [f"  {line(title_of(row), TITLE_COLUMNS)}" for row in told]
