"""Log reader: page by page, so that a log may be longer than the memory, or as it grows.

The daemon says what an event tells and where it stands (`title`, `place`); older ones do not.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from kbd.cli.exits import RequestRefused
from kbd.cli.link import call
from kbd.client.blocking import Client
from kbd.figures import client_text

__all__ = [
    "event_actor",
    "event_place",
    "event_title",
    "follow_events",
    "read_events",
    "read_newest",
]

PAGE_EVENTS = 1000
"""Events a request; the method's own default."""


def read_events(
    client: Client,
    log: str,
    after: int,
    until: int | None = None,
    query: Mapping[str, Any] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the recorded events of a log in order, as `EventsRead` answers them.

    Args:
        client: The daemon.
        log: A workbench's id, or "daemon".
        after: The event before the first one.
        until: The last one; None for the last one that there is.
        query: Filters of `EventsRead`.

    Raises:
        RequestRefused: There is no such log, or it cannot be read.
        Stop: The connection broke.
    """
    last = after
    while until is None or last < until:
        limit = PAGE_EVENTS if until is None else min(PAGE_EVENTS, until - last)
        params = {"workbench_id": log, "after": last, "limit": limit}
        if until is not None and query:
            params["before"] = until + 1
        found = call(client, "EventsRead", {**params, **(query or {})}, slow=True)
        yield from found["events"]
        read_to = found.get("read_to") or last + len(found["events"])
        if read_to <= last or read_to >= found["last_seq"]:
            return
        last = read_to


def read_newest(
    client: Client, log: str, after: int, query: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the events of a log that match, the newest first.

    Args:
        client: The daemon.
        log: A workbench's id, or "daemon".
        after: The event before the oldest one.
        query: Filters of `EventsRead`.

    Raises:
        RequestRefused: There is no such log, or it cannot be read.
        Stop: The connection broke.
    """
    params: dict[str, Any] = {"workbench_id": log, "after": after, "descending": True, "limit": 100}
    while True:
        found = call(client, "EventsRead", {**params, **query}, slow=True)
        yield from found["events"]
        if found["read_to"] <= after + 1:
            return
        params["before"] = found["read_to"]
        params["limit"] = PAGE_EVENTS


def follow_events(client: Client, log: str, after: int) -> Iterator[dict[str, Any]]:
    """Yield the events of a log after one, then new ones as they are recorded, until the log ends.

    What is sent to followers has no titles: each time something is, the log is read.

    Raises:
        RemoteError: There is no such log, or no such place in it.
        ConnectionLostError, Stop: The connection ended, or no answer came in time.
    """
    last = after
    for event in client.follow(log, after):
        # It was read with an event before it.
        if event["seq"] <= last:
            continue
        try:
            for row in read_events(client, log, last):
                last = row["seq"]
                yield row
        except RequestRefused:  # The log was deleted since: these are the last events of it.
            last = event["seq"]
            yield event


def event_title(event: dict[str, Any]) -> str:
    """Return an event's title, or the name of its type if the daemon sends none."""
    return str(event.get("title") or event["type"])


def event_actor(event: dict[str, Any]) -> str:
    """Return who caused an event, briefly; "" where no client did."""
    actor: dict[str, Any] = event.get("actor") or {}
    return client_text(str(actor["client"]), str(actor.get("version", ""))) if actor else ""


def event_place(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event's place in its run, as far as the daemon sends it."""
    place: dict[str, Any] = event.get("place") or {}
    return place
