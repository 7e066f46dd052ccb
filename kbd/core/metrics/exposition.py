"""Exposition format of Prometheus (text, version 0.0.4), and the counters and histograms behind it.

https://prometheus.io/docs/instrumenting/exposition_formats/ has the format,
https://prometheus.io/docs/practices/naming/ what names look like.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

__all__ = [
    "CONTENT_TYPE",
    "Counter",
    "Distribution",
    "Histogram",
    "MetricFamily",
    "Sample",
    "gauge",
    "render",
]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

MAX_SERIES = 1000
"""Of one counter or histogram. What comes with other labels behind that is counted as `other`: a
model may make up codes and names, and a series is kept for as long as the daemon runs."""

_OTHER = "other"

Labels = tuple[tuple[str, str], ...]


class Sample(NamedTuple):
    """A number with its labels.

    Args:
        value: The number.
        labels: Names and values.
        suffix: What its name has behind the family's.
    """

    value: float
    labels: Labels = ()
    suffix: str = ""


class MetricFamily(NamedTuple):
    """Samples of one name.

    Args:
        name: Of the form `kbd_what_unit`, with `_total` for counters.
        kind: What the samples are.
        help: A sentence about them.
        samples: They.
    """

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    samples: Sequence[Sample]


def gauge(name: str, told: str, *samples: float | Sample) -> MetricFamily:
    """Return a family of numbers that go up and down; a bare one has no labels."""
    found = [each if isinstance(each, Sample) else Sample(each) for each in samples]
    return MetricFamily(name, "gauge", told, found)


def render(families: Iterable[MetricFamily]) -> str:
    """Return families as text; one without samples is left out."""
    return "".join(line for family in families if family.samples for line in _lines(family))


def _lines(family: MetricFamily) -> Iterator[str]:
    told = family.help.replace("\\", r"\\").replace("\n", r"\n")
    yield f"# HELP {family.name} {told}\n"
    yield f"# TYPE {family.name} {family.kind}\n"
    for sample in family.samples:
        labels = ",".join(f'{name}="{_escaped(value)}"' for name, value in sample.labels)
        braces = f"{{{labels}}}" if labels else ""
        yield f"{family.name}{sample.suffix}{braces} {_number(sample.value)}\n"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if math.isnan(value):
        return "NaN"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


class Counter:
    """Counter: numbers that only grow, one for each set of labels.

    Args:
        name: As in `MetricFamily`.
        told: What is counted.
        labels: The names of its labels.
    """

    def __init__(self, name: str, told: str, *labels: str) -> None:
        self._name, self._told, self._labels = name, told, labels
        self._values: dict[tuple[str, ...], float] = {}

    def add(self, *values: str, amount: float = 1) -> None:
        """Count, under values of the labels."""
        values = _bounded(values, self._values)
        self._values[values] = self._values.get(values, 0) + amount

    def family(self) -> MetricFamily:
        """Return what was counted; without labels 0 if nothing was."""
        found = self._values.items() if self._values or self._labels else [((), 0)]
        samples = [Sample(count, _named(self._labels, values)) for values, count in found]
        return MetricFamily(self._name, "counter", self._told, samples)


class Distribution:
    """Distribution of numbers: how often one fell between which bounds, and the sum.

    Args:
        bounds: The bounds, growing.
    """

    __slots__ = ("_bounds", "counts", "sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds, self.counts, self.sum = bounds, [0] * (len(bounds) + 1), 0.0

    def observe(self, value: float) -> None:
        """Count a number."""
        self.counts[bisect_left(self._bounds, value)] += 1
        self.sum += value


class Histogram:
    """Histogram: how often numbers fell below which bounds, for each set of labels.

    Args:
        name: As in `MetricFamily`.
        told: What is measured.
        bounds: The bounds, growing; the last one, infinity, is added.
        labels: The names of its labels.
    """

    def __init__(self, name: str, told: str, bounds: Sequence[float], *labels: str) -> None:
        self._name, self._told, self._bounds, self._labels = name, told, bounds, labels
        self._found: dict[tuple[str, ...], Distribution] = {}

    def under(self, *values: str) -> Distribution:
        """Return what counts numbers under values of the labels; whoever counts many keeps it."""
        values = _bounded(values, self._found)
        return self._found.setdefault(values, Distribution(self._bounds))

    def family(self) -> MetricFamily:
        """Return what was measured."""
        samples: list[Sample] = []
        for values, found in self._found.items():
            labels, below = _named(self._labels, values), 0
            for bound, count in zip((*self._bounds, math.inf), found.counts, strict=True):
                below += count
                samples.append(Sample(below, (*labels, ("le", _number(bound))), "_bucket"))
            samples += Sample(found.sum, labels, "_sum"), Sample(below, labels, "_count")
        return MetricFamily(self._name, "histogram", self._told, samples)


def _bounded(values: tuple[str, ...], known: Mapping[tuple[str, ...], object]) -> tuple[str, ...]:
    """Return the labels that a count goes under: `other` for what is one too many."""
    return values if values in known or len(known) < MAX_SERIES else (_OTHER,) * len(values)


def _named(names: Sequence[str], values: Sequence[str]) -> Labels:
    return tuple(zip(names, values, strict=True))
