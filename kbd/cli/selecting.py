"""Which events `kbd log` shows: by run, phase, item, tool, type, time and text, all together."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, time, timedelta
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from kbd.cli.exits import USAGE, Stop
from kbd.cli.reading import place_of

__all__ = ["PHASES", "Selection", "known_types", "moment_of"]

PHASES = ("research", "plan", "implement", "summary")

_AGO = re.compile(r"(\d{1,6})([smhdw])")
_TOLD = frozenset({"title", "place"})
"""What the daemon says of an event beside what is recorded."""

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


class Selection(NamedTuple):
    """What must be true of an event; what is empty asks for nothing.

    Attributes:
        run: Its run's number.
        phase: Its phase.
        item: Its item, from 1.
        tool: A tool that it is about; `*`, `?` and `[…]` stand for others.
        types: The types, as `known_types` gives them.
        since: The first time, as `moment_of` gives it.
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
        """Whether it asks for what only events of runs have."""
        return bool(self.run or self.phase or self.item or self.tool)

    def takes(self, event: dict[str, Any]) -> bool:
        """Return whether an event is one of those."""
        place = place_of(event)
        return (
            (not self.types or event["type"] in self.types)
            and (not self.since or event["ts"] >= self.since)
            and (not self.until or event["ts"] < self.until)
            and (not self.run or str(event.get("run_id")).endswith(f"-{self.run}"))
            and (not self.phase or place.get("phase") == self.phase)
            and (not self.item or place.get("item") == self.item)
            and (not self.tool or any(self._is_tool(tool) for tool in place.get("tools", ())))
            and (not self.text or self._is_said(event))
        )

    def _is_tool(self, tool: str) -> bool:
        return fnmatchcase(tool.casefold(), self.tool.casefold())

    def _is_said(self, event: dict[str, Any]) -> bool:
        wanted = self.text.casefold()
        recorded = {name: value for name, value in event.items() if name not in _TOLD}
        return any(wanted in text.casefold() for text in _texts(recorded))


def _texts(value: Any) -> Iterator[str]:
    """Yield every name, text and number of a value, texts as they are and not as JSON has them."""
    match value:
        case str():
            yield value
        case dict():
            for name, inner in value.items():
                yield name
                yield from _texts(inner)
        case list():
            for inner in value:
                yield from _texts(inner)
        case None | bool():
            pass
        case _:
            yield str(value)


def known_types(asked: Iterable[str]) -> frozenset[str]:
    """Return the types that are asked for, as they are written.

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
        told = ", ".join(folded[name] for name in near[:6])
        meant = f"; near: {told}" if told else "; docs/reference/events.md lists all"
        raise Stop(f"There is no type of event {unknown}{meant}.", USAGE)
    return frozenset(folded[name.casefold()] for name in names)


def moment_of(text: str, now: datetime) -> str:
    """Return a moment as events tell theirs, so that texts compare like times.

    Args:
        text: ISO 8601 (`2026-11-22`, `2026-11-22T10:30`, `10:30` for today), in the machine's zone
            unless it names an offset; or how long ago (`45s`, `30m`, `2h`, `3d`, `1w`).
        now: The time, in the machine's zone.

    Raises:
        Stop: It is none of these.
    """
    try:
        found = _moment(text.strip(), now).astimezone(UTC)
    except (ValueError, OverflowError):
        msg = f"{text} is no time: say 2026-11-22, 2026-11-22T10:30, 10:30, or 2h (30m, 3d) ago."
        raise Stop(msg, USAGE) from None
    return found.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _moment(text: str, now: datetime) -> datetime:
    ago = _AGO.fullmatch(text)
    if ago:
        return now - timedelta(seconds=int(ago[1]) * _SECONDS[ago[2]])
    if ":" in text[:3]:
        return datetime.combine(now.date(), time.fromisoformat(text.zfill(5)))
    return datetime.fromisoformat(text)
