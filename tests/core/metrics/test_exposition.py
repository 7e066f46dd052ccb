"""The text format of Prometheus, read back by Prometheus' own client library."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families as parse

from kbd.core.metrics import exposition
from kbd.core.metrics.exposition import Counter, Histogram, MetricFamily, Sample, gauge, render

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"))
"""The parser of the library splits lines at a carriage return, too, which the format does not."""


@given(TEXT, st.floats(allow_nan=False))
def test_what_is_written_is_read(text: str, value: float) -> None:
    """Any text of a label and any number come back as they were."""
    # The library also splits at other ends of lines that Python knows.
    text = "".join(each for each in text if len(f"a{each}b".splitlines()) == 1) + '\n\\"'
    (family,) = parse(render([gauge("kbd_x", "Told\nin \\ two.", Sample(value, (("a", text),)))]))

    assert family.documentation == "Told\nin \\ two."
    (sample,) = family.samples
    assert sample.labels == {"a": text}
    assert sample.value == value


def test_numbers_that_are_none_are_named_as_prometheus_does() -> None:
    """Infinities and not-a-number have words of their own; whole numbers no point."""
    samples = [*map(Sample, (math.inf, -math.inf, math.nan, 3.0, 0.25, 1e300))]
    told = [
        line.split(" ")[1]
        for line in render([MetricFamily("x", "gauge", "", samples)]).split("\n")[2:-1]
    ]

    assert told == ["+Inf", "-Inf", "NaN", "3", "0.25", "1e+300"]


def test_a_counter_counts_by_its_labels() -> None:
    """And says 0 from the start where it has none."""
    counter = Counter("kbd_x_total", "Told.", "tool", "code")
    assert render([counter.family()]) == ""
    counter.add("a", "ok")
    counter.add("a", "ok", amount=2)
    counter.add("b", "failed")

    assert render([counter.family(), Counter("kbd_y_total", "Told.").family()]).splitlines() == [
        "# HELP kbd_x_total Told.", "# TYPE kbd_x_total counter",
        'kbd_x_total{tool="a",code="ok"} 3', 'kbd_x_total{tool="b",code="failed"} 1',
        "# HELP kbd_y_total Told.", "# TYPE kbd_y_total counter", "kbd_y_total 0",
    ]  # fmt: skip


def test_a_histogram_counts_what_is_at_most_each_bound() -> None:
    """With all of it below infinity, and the sum."""
    histogram = Histogram("kbd_x_seconds", "Told.", (0.5, 1.0), "tool")
    for value in (0.25, 0.5, 0.75, 9):
        histogram.under("a").observe(value)
    (family,) = parse(render([histogram.family()]))

    assert family.type == "histogram"
    assert {(each.name, each.labels.get("le")): each.value for each in family.samples} == {
        ("kbd_x_seconds_bucket", "0.5"): 2, ("kbd_x_seconds_bucket", "1"): 3,
        ("kbd_x_seconds_bucket", "+Inf"): 4, ("kbd_x_seconds_count", None): 4,
        ("kbd_x_seconds_sum", None): 10.5,
    }  # fmt: skip


def test_there_is_an_end_to_series(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes with ever new labels is counted under one name, and nothing is lost."""
    monkeypatch.setattr(exposition, "MAX_SERIES", 3)
    counter = Counter("kbd_x_total", "Told.", "code")
    histogram = Histogram("kbd_x_seconds", "Told.", (1.0,), "code")
    for number in range(10):
        counter.add(f"made up {number}")
        histogram.under(f"made up {number}").observe(0.5)
    counter.add("made up 0")
    values = {sample.labels[0][1]: sample.value for sample in counter.family().samples}

    assert values == {"made up 0": 2, "made up 1": 1, "made up 2": 1, "other": 7}
    (sample,) = (
        each for each in histogram.family().samples
        if each.suffix == "_count" and each.labels == (("code", "other"),)
    )  # fmt: skip
    assert sample.value == 7
