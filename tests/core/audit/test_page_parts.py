"""What the page of a run is made of: JSON laid out, time to scale, figures."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbd.core.audit.html.markup import clock, count, data_block, duration, element, size, text
from kbd.core.audit.page.step_view import MAX_COLUMNS, format_json
from kbd.core.audit.page.timeline import TICKS, make_scale

HOUR_MS = 3_600_000.0

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=30,
)


@settings(max_examples=40)
@given(values, st.booleans())
def test_only_white_space_is_added_to_json(value: object, is_dense: bool) -> None:
    """Laid out, JSON is the same but for white space, and what was laid out stays as it is."""
    written = json.dumps(value, separators=(",", ":") if is_dense else None)
    found = format_json(written)

    assert re.sub(r"\s", "", found) == re.sub(r"\s", "", written)
    if "\\n" not in written:
        assert json.loads(found) == value
        assert format_json(found) == found


def test_json_is_broken_where_it_is_too_wide() -> None:
    """What fits stays on its line; digits and escapes stay as they were written."""
    row = '["2025-01-03", "caf\\u00e9", 1.10]'
    found = format_json('{"rows":[' + ",".join([row] * 9) + '],"n":12345678901234567890}')

    assert found.splitlines()[:3] == ["{", '  "rows": [', f"    {row},"]
    assert found.endswith('  ],\n  "n": 12345678901234567890\n}')
    assert max(map(len, found.splitlines())) <= MAX_COLUMNS


def test_a_long_string_is_broken_behind_its_line_feeds() -> None:
    """The text of a file can be read, its escapes are there, and a backslash is no line feed."""
    found = format_json(json.dumps({"text": "one line\n\ntwo lines, C:\\new\n" * 9}))

    assert '"one line\\n\n' in found
    assert "C:\\\\new\\n\n" in found


@pytest.mark.parametrize("other", ["", "words", "{broken", '"text"', "[1] and more", "NaN"])
def test_what_is_no_json_stays_as_it_is(other: str) -> None:
    """Broken arguments and plain texts are shown to the character."""
    assert format_json(other) == other


def test_deep_json_does_no_harm() -> None:
    """A thousand levels are laid out or left, not refused."""
    deep = "[" * 900 + "]" * 900

    assert format_json(deep).replace(" ", "").replace("\n", "") == deep
    assert format_json("[" * 100_000) == "[" * 100_000


def test_markup_is_escaped_everywhere() -> None:
    """In a text, in an attribute and in the block of data, nothing ends what it is in."""
    hostile = "</script><!--\u2028\"'&amp;<b>"

    assert text(hostile) == "&lt;/script&gt;&lt;!--<i>U+2028</i>\"'&amp;amp;&lt;b&gt;"
    assert text("half a pair \ud800") == "half a pair <i>U+D800</i>"
    told = element("p", {"title": hostile, "hidden": True, "lang": None})
    assert told == (
        '<p title="&lt;/script&gt;&lt;!--⟨U+2028⟩&quot;&#x27;&amp;amp;&lt;b&gt;" hidden></p>'
    )
    block = data_block("data", [hostile])
    assert not re.search("[<>&\u2028]", block[block.index("[") : block.rindex("]")])
    assert json.loads(block[block.index("[") : block.rindex("]") + 1]) == [hostile]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.floats(0, 9e8), st.floats(0, 1e6)), min_size=1, max_size=30))
def test_later_is_further_right(spans: list[tuple[float, float]]) -> None:
    """Whatever is cut, places lie within the line and in the order of their times."""
    scale = make_scale((start, start + length) for start, length in spans)
    times = sorted({at for start, length in spans for at in (start, start + length)})
    places = [scale.at(time) for time in times]

    assert places == sorted(places)
    assert places[0] == 0.0
    assert all(0.0 <= place <= 1.0 + 1e-9 for place in places)
    ticks = [scale.at(tick.at_ms) for tick in scale.ticks()]
    assert ticks == sorted(ticks)
    assert len(ticks) <= TICKS + 1 + len(scale.idle)


def test_a_night_is_cut() -> None:
    """Nine hours in which nothing happened take little room; what was drawn is to scale."""
    night = 9 * HOUR_MS
    scale = make_scale([(0, 10_000), (10_000, 20_000), (night, night + 10_000)])

    assert len(scale.idle) == 1
    assert scale.at(20_000) == pytest.approx(2 * scale.at(10_000))
    assert scale.at(night) - scale.at(20_000) < 0.05
    assert [tick.since_ms for tick in scale.ticks() if tick.is_behind_cut] == [5000.0, 10_000.0]


def test_figures_read_well() -> None:
    """Durations, sizes and numbers have the digits that matter."""
    times_ms = (0, 999, 1000, 1049, 9940, 59_000, 59_500, 61_000, 3_600_000)
    assert [duration(ms) for ms in times_ms] == [
        "0 ms", "999 ms", "1 s", "1.0 s", "9.9 s", "59 s", "1 min", "1 min 1 s", "1 h",
    ]  # fmt: skip
    assert [size(n) for n in (0, 1023, 1024, 3_000_000)] == [
        "0 bytes", "1023 bytes", "1.0 KiB", "2.9 MiB",
    ]  # fmt: skip
    assert [count(1, "tool"), count(1204, "tool"), count(0)] == ["1 tool", "1,204 tools", "0"]
    assert clock("2026-11-22T13:17:29.161708Z") == "13:17:29.161"
