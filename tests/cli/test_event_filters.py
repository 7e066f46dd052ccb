"""Which events pass the filters of `kbd log`, and what its times and types mean."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbd.cli.exits import USAGE, Stop
from kbd.cli.log import EventFilter, parse_time, parse_types

EVENT: dict[str, Any] = {
    "seq": 7,
    "type": "ToolReturned",
    "ts": "2026-01-02T03:04:05.000006Z",
    "run_id": "0123456789abcdef-2",
    "data": {
        "ok": True,
        "entry_id": 4711,
        "shown": 'He said "Grüße"\n',
        "worked": [{"package": "kbd_CSV"}],
    },
    "title": "xlsx_operations returned",
    "place": {"phase": "implement", "item": 3, "tools": ["xlsx_operations"], "label": "Dining"},
}


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The machine's zone is two hours ahead of UTC in summer, one in winter."""
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (EventFilter(run=2), EventFilter(run=1)),
        (EventFilter(phase="implement"), EventFilter(phase="plan")),
        (EventFilter(item=3), EventFilter(item=2)),
        (EventFilter(tool="xlsx_operations"), EventFilter(tool="xlsx")),
        (EventFilter(tool="XLSX_*"), EventFilter(tool="docx_*")),
        (
            EventFilter(types=frozenset({"ToolReturned"})),
            EventFilter(types=frozenset({"ToolCalled"})),
        ),
        (
            EventFilter(since="2026-01-02T03:04:05.000006Z"),
            EventFilter(since="2026-01-02T03:04:05.000007Z"),
        ),
        (
            EventFilter(until="2026-01-02T03:04:05.000007Z"),
            EventFilter(until="2026-01-02T03:04:05.000006Z"),
        ),
        (EventFilter(text='SAID "grüsse"'), EventFilter(text="said 'grüsse'")),
        (EventFilter(text="kbd_csv"), EventFilter(text="kbd_xlsx")),
        (EventFilter(text="471"), EventFilter(text="472")),
        (EventFilter(text="cdef-2"), EventFilter(text="cdef-3")),
        (EventFilter(text="entry_id"), EventFilter(text="dining")),
    ],
)
def test_each_filter_takes_and_leaves(one: EventFilter, other: EventFilter) -> None:
    """A filter alone decides; together all must agree."""
    assert EventFilter().matches(EVENT)
    assert one.matches(EVENT)
    assert not other.matches(EVENT)
    assert not one._replace(item=4).matches(EVENT)


def test_an_older_daemon_says_no_places() -> None:
    """Then no event is of a phase, an item or a tool; its run it names itself."""
    event = {name: value for name, value in EVENT.items() if name not in ("title", "place")}

    assert EventFilter(run=2, text="csv").matches(event)
    for wanted in (EventFilter(phase="implement"), EventFilter(item=3), EventFilter(tool="*")):
        assert not wanted.matches(event)


@given(st.text(min_size=1, max_size=20), st.text(max_size=5), st.text(max_size=5))
def test_whatever_stands_in_an_event_is_found(text: str, before: str, after: str) -> None:
    """Quotes, line ends and characters that JSON writes otherwise are looked for as they are."""
    event = {**EVENT, "data": {"calls": [{"arguments": f"{before}{text}{after}"}]}}

    assert EventFilter(text=text).matches(event)


def test_types_are_named_in_any_case() -> None:
    """Several with commas or one by one; an unknown one names what looks alike."""
    assert parse_types(["toolcalled, ItemRetried", "MODELFAILED"]) == {
        "ToolCalled", "ItemRetried", "ModelFailed",
    }  # fmt: skip
    assert parse_types([]) == frozenset()
    with pytest.raises(Stop, match=r"no type of event ToolCald; near: ToolCalled, ") as refused:
        parse_types(["ToolCald"])
    assert refused.value.code == USAGE
    with pytest.raises(Stop, match=r"no type of event zzz; docs/reference/events\.md lists all"):
        parse_types(["zzz"])


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026-07-01", "2026-06-30T22:00:00.000000Z"),
        ("2026-01-01", "2025-12-31T23:00:00.000000Z"),
        ("2026-07-01T10:30", "2026-07-01T08:30:00.000000Z"),
        ("2026-07-01 10:30:05.5", "2026-07-01T08:30:05.500000Z"),
        ("2026-07-01T10:30Z", "2026-07-01T10:30:00.000000Z"),
        ("2026-07-01T10:30-05:00", "2026-07-01T15:30:00.000000Z"),
        ("10:30", "2026-07-15T08:30:00.000000Z"),
        ("9:05", "2026-07-15T07:05:00.000000Z"),
        ("10:30Z", "2026-07-15T10:30:00.000000Z"),
        ("90s", "2026-07-15T09:58:30.000000Z"),
        ("30m", "2026-07-15T09:30:00.000000Z"),
        ("2h", "2026-07-15T08:00:00.000000Z"),
        ("3d", "2026-07-12T10:00:00.000000Z"),
        ("1w", "2026-07-08T10:00:00.000000Z"),
    ],
)
def test_times_are_of_this_machine_unless_they_say(text: str, meant: str) -> None:
    """ISO 8601, a time of today, or how long ago; summer and winter as the machine has them."""
    now = datetime(2026, 7, 15, 10, 0, tzinfo=UTC).astimezone()

    assert parse_time(text, now) == meant


@pytest.mark.parametrize("text", ["", "12", "soon", "2026-13-01", "25:00", "2x", "-2h", "999999w"])
def test_what_is_no_time_is_refused(text: str) -> None:
    """The error shows what a time looks like."""
    with pytest.raises(Stop, match="is no time: say 2026-11-22") as refused:
        parse_time(text, datetime(2026, 7, 15, tzinfo=UTC))
    assert refused.value.code == USAGE
