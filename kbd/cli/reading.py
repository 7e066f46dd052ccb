"""Reading a log page by page, so that it may be longer than the memory."""

from collections.abc import Iterator
from typing import Any

from kbd.cli.link import call
from kbd.client.blocking import Client

__all__ = ["events_of"]

PAGE = 1000
"""Events a request; the method's own default."""


def events_of(
    client: Client, log: str, after: int, until: int | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the recorded events of a log in order, as `EventsRead` tells them.

    Args:
        client: The daemon.
        log: A workbench's id, or "daemon".
        after: The event before the first one.
        until: The last one; None for the last one that there is.

    Raises:
        Refused: There is no such log, or it cannot be read.
        Stop: The connection broke.
    """
    last = after
    while until is None or last < until:
        limit = PAGE if until is None else min(PAGE, until - last)
        params = {"workbench_id": log, "after": last, "limit": limit}
        found = call(client, "EventsRead", params, slow=True)
        yield from found["events"]
        last += len(found["events"])
        if not found["events"] or last >= found["last_seq"]:
            return
