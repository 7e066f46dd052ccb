"""`kbd log`: show recorded events, from the beginning or live.

Events are filtered by run, phase, item, tool, type, time and text, all together.
"""

import argparse
import json
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, time, timedelta
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any, NamedTuple

from kbd.cli.exits import FAILED, OK, UNREACHABLE, USAGE, Stop
from kbd.cli.link import call, connect, connection_lost, request_refused
from kbd.cli.log_reader import (
    event_actor,
    event_place,
    event_title,
    follow_events,
    read_events,
    read_newest,
)
from kbd.cli.names import find_workbench
from kbd.cli.terminal import columns, line, note, say
from kbd.client.blocking import Client
from kbd.client.errors import ConnectionLostError, RemoteError

__all__ = ["PHASES", "EventFilter", "command", "parse_time", "parse_types", "render_event"]

PHASES = ("research", "plan", "implement", "summary")

_AGO_PATTERN = re.compile(r"(\d{1,6})([smhdw])")
_DERIVED_FIELDS = frozenset({"title", "place"})
"""What the daemon says of an event beside what is recorded."""

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


class EventFilter(NamedTuple):
    """Filter of events; an empty field asks for nothing.

    Attributes:
        run: Its run's number.
        phase: Its phase.
        item: Its item, from 1.
        tool: A tool that it is about; `*`, `?` and `[…]` stand for others.
        types: The types, as `parse_types` gives them.
        since: The first time, as `parse_time` gives it.
        until: The first time that is too late, likewise.
        text: What stands in it somewhere, whatever the case.
    """

    run: int = 0
    phase: str = ""
    item: int = 0
    tool: str = ""
    types: frozenset[str] = frozenset()
    since: str = ""
    until: str = ""
    text: str = ""

    @property
    def is_about_runs(self) -> bool:
        """Whether the filter concerns fields that only events of runs have."""
        return bool(self.run or self.phase or self.item or self.tool)

    def query(self, log: str) -> dict[str, Any]:
        """Return what of it `EventsRead` can tell apart: the others are looked at here."""
        asked = {"types": sorted(self.types), "since": self.since, "until": self.until}
        asked["run_id"] = f"{log}-{self.run}" if self.run else ""
        return {name: value for name, value in asked.items() if value}

    def matches(self, event: dict[str, Any]) -> bool:
        """Return whether an event matches the filter."""
        place = event_place(event)
        return (
            (not self.types or event["type"] in self.types)
            and (not self.since or event["ts"] >= self.since)
            and (not self.until or event["ts"] < self.until)
            and (not self.run or str(event.get("run_id")).endswith(f"-{self.run}"))
            and (not self.phase or place.get("phase") == self.phase)
            and (not self.item or place.get("item") == self.item)
            and (not self.tool or any(self._is_tool(tool) for tool in place.get("tools", ())))
            and (not self.text or self._contains_text(event))
        )

    def _is_tool(self, tool: str) -> bool:
        return fnmatchcase(tool.casefold(), self.tool.casefold())

    def _contains_text(self, event: dict[str, Any]) -> bool:
        wanted = self.text.casefold()
        recorded = {name: value for name, value in event.items() if name not in _DERIVED_FIELDS}
        return any(wanted in text.casefold() for text in _field_texts(recorded))


def _field_texts(value: Any) -> Iterator[str]:
    """Yield every name, text and number of a value, texts as they are and not as JSON has them."""
    match value:
        case str():
            yield value
        case dict():
            for name, inner in value.items():
                yield name
                yield from _field_texts(inner)
        case list():
            for inner in value:
                yield from _field_texts(inner)
        case None | bool():
            pass
        case _:
            yield str(value)


def parse_types(asked: Iterable[str]) -> frozenset[str]:
    """Return the requested event types in their proper spelling.

    Args:
        asked: Names in any case; several may stand in one, with commas.

    Raises:
        Stop: There is no such type; it names those that look alike.
    """
    names = [name.strip() for text in asked for name in text.split(",") if name.strip()]
    if not names:
        return frozenset()
    from kbd.events.vocabulary import VERSIONS  # noqa: PLC0415 - 70 ms

    folded = {kind.__name__.casefold(): kind.__name__ for kind in VERSIONS}
    unknown = next((name for name in names if name.casefold() not in folded), None)
    if unknown is not None:
        from difflib import get_close_matches  # noqa: PLC0415 - 8 ms, for an error alone

        near = get_close_matches(unknown.casefold(), folded, n=4, cutoff=0.5)
        near += [name for name in folded if unknown.casefold() in name and name not in near]
        nearest = ", ".join(folded[name] for name in near[:6])
        meant = f"; near: {nearest}" if nearest else "; docs/reference/events.md lists all"
        raise Stop(f"there is no type of event {unknown}{meant}", USAGE)
    return frozenset(folded[name.casefold()] for name in names)


def parse_time(text: str, now: datetime) -> str:
    """Parse a time into the form of an event's, in which text order is time order.

    Args:
        text: ISO 8601 (`2026-11-22`, `2026-11-22T10:30`, `10:30` for today), in the machine's zone
            unless it names an offset; or how long ago (`45s`, `30m`, `2h`, `3d`, `1w`).
        now: The time, in the machine's zone.

    Raises:
        Stop: It is none of these.
    """
    try:
        found = _parse_moment(text.strip(), now).astimezone(UTC)
    except (ValueError, OverflowError):
        msg = f"{text} is no time: say 2026-11-22, 2026-11-22T10:30, 10:30, or 2h (30m, 3d) ago"
        raise Stop(msg, USAGE) from None
    # Six digits of a second even where they are zeros: the texts are compared.
    return found.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _parse_moment(text: str, now: datetime) -> datetime:
    ago = _AGO_PATTERN.fullmatch(text)
    if ago:
        return now - timedelta(seconds=int(ago[1]) * _SECONDS[ago[2]])
    if ":" in text[:3]:
        # For fromisoformat an hour has two digits, for people 9:30 has one.
        return datetime.combine(now.date(), time.fromisoformat(text.zfill(5)))
    return datetime.fromisoformat(text)


WIDTH = 160
"""Columns of a line where stdout is no terminal; the whole event is in --json and `kbd show`."""

MAX_ACTOR_COLUMNS = 30
"""Columns for who caused an event."""

LINE_BATCH = 500
"""Lines that are printed at once, while they are not written as they happen."""


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd log` and return what runs it."""
    parser.epilog = """\
examples:
  kbd log taxes
  kbd log taxes --last 50              the newest of them
  kbd log taxes --follow
  kbd log taxes --run 2 --phase implement --item 3
  kbd log taxes --tool '*_operations' --since 2h --grep total
  kbd log taxes --type ToolRefused,ItemRetried,ModelFailed
  kbd log taxes --changes              what each edit changed, by place
  kbd log taxes --after 120 --json | python -m json.tool --json-lines
  kbd log taxes --head >> heads        for `kbd verify taxes --head`, later
  kbd log daemon                       the daemon's own log

Shown is what passes every filter. A line is cut to the terminal, or to 160
columns; `kbd show WB SEQ` tells an event in full. `!` marks what did not go as
it should. Times are shown in UTC. Given ones are ISO 8601, in this machine's
zone unless they name an offset, or how long ago: 45s, 30m, 2h, 3d."""
    parser.add_argument("workbench", metavar="WB", help="its id or name; or `daemon`")
    parser.add_argument("--follow", action="store_true", help="go on with what happens")
    parser.add_argument("--after", type=int, default=0, metavar="N", help="only events after N")
    parser.add_argument("--last", type=int, metavar="N", help="only the last N of them")
    parser.add_argument("--run", metavar="RUN", help="of this run: its number or id")
    parser.add_argument("--phase", metavar="P", help=f"of this phase: {', '.join(PHASES)}")
    parser.add_argument("--item", type=int, metavar="I", help="of this item of the plan, from 1")
    parser.add_argument("--tool", metavar="T", help="about this tool; `*` and `?` as in names")
    parser.add_argument(
        "--type", action="append", default=[], metavar="X", help="of these types, as A,B"
    )
    parser.add_argument("--since", metavar="TIME", help="not before")
    parser.add_argument("--until", metavar="TIME", help="before")
    parser.add_argument("--grep", metavar="TEXT", help="with this text anywhere, in any case")
    parser.add_argument(
        "--changes", action="store_true", help="below each changed file, what changed inside it"
    )
    parser.add_argument("--head", action="store_true", help="only its head, to keep elsewhere")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, complete")
    return _log


def _log(arguments: argparse.Namespace) -> int:
    selection = _parse_filter(arguments)
    with connect(arguments) as client:
        log, damage = "daemon", ""
        if arguments.workbench != "daemon":
            workbench = find_workbench(client, arguments.workbench)
            log = str(workbench["id"])
            # Where a file version is damaged the log has all of its events.
            if workbench["status"] != "damaged" or workbench["is_read_only"]:
                damage = str(workbench.get("reason", ""))
            if arguments.run is not None:
                selection = selection._replace(run=_run_number(client, workbench, arguments.run))
        if arguments.head:
            return _print_head(client, log, as_json=arguments.json)
        changes = _ChangeReader(client, log) if arguments.changes else None
        show = _EventRenderer(selection, arguments.after, changes, as_json=arguments.json)
        if arguments.last is not None:
            _read_last(client, log, show, arguments.last)
        elif not arguments.follow:
            _read(client, log, show)
        if arguments.follow:
            _follow(client, log, show)
    if damage:
        note(f"This is not all: {damage}")
    return OK


def _print_head(client: Client, log: str, *, as_json: bool) -> int:
    """Print the head, which `kbd verify --head` compares with the log on a later day."""
    head = call(client, "LogHead", {"workbench_id": log})
    say(json.dumps(head) if as_json else f"{head['seq']}:{head['hash']}")
    return OK


def _parse_filter(arguments: argparse.Namespace) -> EventFilter:
    """Return what is asked for, but the run, which only the daemon knows.

    Raises:
        Stop: A filter makes no sense.
    """
    phase = (arguments.phase or "").lower()
    if phase and phase not in PHASES:
        raise Stop(f"there is no phase {arguments.phase}; there are {', '.join(PHASES)}", USAGE)
    if arguments.item is not None and arguments.item < 1:
        raise Stop("items are counted from 1", USAGE)
    if arguments.last is not None and arguments.last < 1:
        raise Stop("--last is 1 or more", USAGE)
    if arguments.follow and arguments.until:
        raise Stop("--follow has no end: say either --follow or --until", USAGE)
    now = datetime.now().astimezone()
    selection = EventFilter(
        phase=phase,
        item=arguments.item or 0,
        tool=arguments.tool or "",
        types=parse_types(arguments.type),
        since=parse_time(arguments.since, now) if arguments.since else "",
        until=parse_time(arguments.until, now) if arguments.until else "",
        text=arguments.grep or "",
    )
    if arguments.workbench == "daemon" and (arguments.run is not None or selection.is_about_runs):
        msg = "the daemon's own log has no runs; --run, --phase, --item and --tool need a workbench"
        raise Stop(msg, USAGE)
    return selection


def _run_number(client: Client, workbench: dict[str, Any], named: str) -> int:
    """Return the number of a run that is named by its number or its id.

    Raises:
        Stop: The workbench has no such run.
    """
    log = str(workbench["id"])
    number = named.removeprefix(f"{log}-")
    count = int(call(client, "RunList", {"workbench_id": log, "limit": 1})["total"])
    if number.isascii() and number.isdecimal() and 1 <= int(number) <= count:
        return int(number)
    has = f"it has 1 to {count}" if count > 1 else "it has one" if count else "it has none"
    raise Stop(f"there is no run {named} in {workbench['name']}; {has}", FAILED)


class _EventRenderer:
    """Renders the events that pass the filter.

    Attributes:
        last: The last event that it was given, or the one after which it wants them.
        count: How many it has shown.
    """

    def __init__(
        self,
        selection: EventFilter,
        after: int,
        changes: "_ChangeReader | None" = None,
        *,
        as_json: bool,
    ) -> None:
        self.last = after
        self.count = 0
        self.selection, self._changes, self._as_json = selection, changes, as_json
        self._width, self._day = columns(WIDTH), ""

    def lines(self, event: dict[str, Any]) -> list[str]:
        """Take the next event, and return the lines to print for it."""
        # Also of an event that is not shown: the advice to go on with `--after` is to go past it.
        self.last = event["seq"]
        if not self.selection.matches(event):
            return []
        self.count += 1
        diff = self._changes.read(event) if self._changes is not None else None
        if self._as_json:
            return [json.dumps(event if diff is None else {**event, "diff": diff})]
        text = [render_event(event, self._width), *_change_lines(diff, self._width)]
        day, self._day = self._day, event["ts"][:10]
        return text if day == self._day else [f"{self._day} UTC", *text]


_MAX_CHANGES = 20
"""Changes of one event that are shown; `kbd review WB FILE` and `--json` have more."""

_INDENT = " " * 14


class _ChangeReader:
    """Reads what recorded changes of files changed inside them."""

    def __init__(self, client: Client, log: str) -> None:
        self._client, self._log = client, log

    def read(self, event: dict[str, Any]) -> dict[str, Any] | None:
        """Return the comparison of the versions that an event has; None for another event."""
        if event["type"] != "FileChanged":
            return None
        params = {"workbench_id": self._log, "path": event["data"]["name"], "seq": event["seq"]}
        limited = {**params, "limit": _MAX_CHANGES}
        found: dict[str, Any] = call(self._client, "ReviewGetDiff", limited, slow=True)
        return found


def _change_lines(diff: dict[str, Any] | None, width: int) -> Iterator[str]:
    """Yield the lines of a comparison, in under its event."""
    if diff is None:
        return
    from kbd.cli.diff_view import render_diff  # noqa: PLC0415 - only `--changes` draws them

    for segments in render_diff(diff, max(width - len(_INDENT), 40), is_excerpt=True):
        yield _INDENT + "".join(text for _, text in segments)


def render_event(event: dict[str, Any], width: int) -> str:
    """Render an event as one clean line: indented by its level, marked if it is a failure.

    Who caused it stands at the end, however long its title is.

    Args:
        event: As `EventsRead` tells it.
        width: The columns that the line may take.
    """
    place = event_place(event)
    mark = "!" if place.get("is_failure") else " "
    start = f"{event['seq']:>6} {event['ts'][11:19]} {mark} {'  ' * place.get('level', 0)}"
    actor = event_actor(event)
    by = f"  by {line(actor, MAX_ACTOR_COLUMNS)}" if actor else ""
    return start + line(event_title(event), max(width - len(start) - len(by), 20)) + by


def _read(client: Client, log: str, show: _EventRenderer) -> None:
    after = show.last
    lines: list[str] = []
    for event in read_events(client, log, after, query=show.selection.query(log)):
        lines += show.lines(event)
        if len(lines) >= LINE_BATCH:
            say("\n".join(lines))
            lines.clear()
    if lines:
        say("\n".join(lines))
    if not show.count:
        takes_all = show.selection == EventFilter()
        note(f"There is nothing after event {after}." if takes_all else "Nothing matched.")


def _read_last(client: Client, log: str, show: _EventRenderer, count: int) -> None:
    """Show the last of the events that match, and have what follows begin behind the log's end."""
    selection, after = show.selection, show.last
    end = int(call(client, "LogHead", {"workbench_id": log})["seq"])
    events = read_newest(client, log, after, selection.query(log))
    newest = list(islice((event for event in events if selection.matches(event)), count))
    lines = [text for event in reversed(newest) for text in show.lines(event)]
    if lines:
        say("\n".join(lines))
    else:
        takes_all = selection == EventFilter()
        note(f"There is nothing after event {after}." if takes_all else "Nothing matched.")
    # Events that were recorded meanwhile may be among them.
    show.last = max(show.last, end)


def _follow(client: Client, log: str, show: _EventRenderer) -> None:
    try:
        for event in follow_events(client, log, show.last):
            for text in show.lines(event):
                say(text)
        note("The log was deleted: nothing more will come.")
    except RemoteError as error:
        raise request_refused(error) from error
    except (ConnectionLostError, Stop) as error:
        why = error if isinstance(error, Stop) else connection_lost(error)
        filters = "" if show.selection == EventFilter() else ", with the same filters"
        again = f"kbd log {log} --follow --after {show.last}{filters}"
        raise Stop(f"{why.message}\nthen: {again}", UNREACHABLE) from error
