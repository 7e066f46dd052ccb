"""SVG timeline of a run: phases, items, turns, calls, files and tokens, to scale.

Long idle stretches are cut short: a run that waited overnight for its daemon would else be a
hairline at each end of the page.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from kbd.core.audit.html.markup import (
    Attributes,
    Html,
    count,
    duration,
    element,
    joined,
    plain,
    text,
)
from kbd.core.audit.page.run_index import step_span_ms
from kbd.requests.replays import Step

__all__ = ["Idle", "Scale", "Tick", "make_scale", "render_timeline", "to_percent"]

IDLE_MS = 30_000.0
"""A stretch without any step that is longer than this, and than a quarter of the rest, is cut."""

CUT_SHARE = 0.03
"""How much of the width a cut takes."""

TICKS = 8
"""At most so many times are written below the axis."""

_NICE_MS = (
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000,
    300_000, 600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000,
)  # fmt: skip


class Idle(msgspec.Struct, frozen=True):
    """A stretch of time in which nothing happened, in milliseconds since 1970."""

    start_ms: float
    end_ms: float


class Tick(msgspec.Struct, frozen=True):
    """A time that is written below the axis.

    Args:
        at_ms: Which, in milliseconds since 1970.
        since_ms: How long that is behind the start, or behind the cut before it.
        is_behind_cut: Whether there is one.
    """

    at_ms: float
    since_ms: float
    is_behind_cut: bool


class Scale(msgspec.Struct, frozen=True):
    """Time scale: maps times to a line from 0 to 1.

    Args:
        start_ms: The first time, in milliseconds since 1970.
        end_ms: The last one, later than the first.
        idle: What is cut, in order.
        cut_ms: How long each cut is on the line.
    """

    start_ms: float
    end_ms: float
    idle: tuple[Idle, ...] = ()
    cut_ms: float = 0.0

    def at(self, ms: float) -> float:
        """Return the place of a time."""
        return self._drawn_ms(ms) / self._drawn_ms(self.end_ms)

    def ticks(self) -> list[Tick]:
        """Return times to write below the axis, round ones behind the start and behind each cut."""
        drawn_ms = self._drawn_ms(self.end_ms)
        step = next((nice for nice in _NICE_MS if drawn_ms / nice <= TICKS), drawn_ms / TICKS)
        ticks = [Tick(self.start_ms, 0.0, is_behind_cut=False)]
        starts = [self.start_ms, *(gap.end_ms for gap in self.idle)]
        ends = [*(gap.start_ms for gap in self.idle), self.end_ms]
        for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
            count = int((end - start) // step)
            # The last one before a cut would stand where the cut's own length is written.
            until = count if place == len(self.idle) else int((end - start - step / 2) // step)
            ticks.extend(Tick(start + n * step, n * step, place > 0) for n in range(1, until + 1))
        return ticks

    def _drawn_ms(self, ms: float) -> float:
        """Return how far behind the start a time is drawn."""
        drawn = min(max(ms, self.start_ms), self.end_ms) - self.start_ms
        for gap in self.idle:
            length = gap.end_ms - gap.start_ms
            inside = min(max(ms - gap.start_ms, 0.0), length)
            drawn -= inside * (1 - self.cut_ms / length)
        return drawn


def make_scale(spans: Iterable[tuple[float, float]]) -> Scale:
    """Return the scale of all that happened, given as beginnings and ends in milliseconds."""
    ordered = sorted(spans)
    if not ordered:
        return Scale(0.0, 1.0)
    start = reached = ordered[0][0]
    gaps = []
    for begin, end in ordered:
        if begin - reached > IDLE_MS:
            gaps.append(Idle(reached, begin))
        reached = max(reached, end)
    # At least a millisecond, for the scale divides by the length.
    reached = max(reached, start + 1)
    busy = reached - start - sum(gap.end_ms - gap.start_ms for gap in gaps)
    cut = tuple(gap for gap in gaps if gap.end_ms - gap.start_ms > busy / 4)
    rest = reached - start - sum(gap.end_ms - gap.start_ms for gap in cut)
    return Scale(start, reached, cut, max(rest, 1.0) * CUT_SHARE)


_NAMED_PERCENT = 2.4
"""A bar narrower than this has no room for its name."""


class _Bar(msgspec.Struct, frozen=True):
    """A stretch of the run: the step it begins with, and what it is called."""

    step: int
    start_ms: float
    end_ms: float
    name: str
    label: str
    is_bad: bool = False


def to_percent(scale: Scale, ms: float) -> str:
    """Return the place of a time in percent of the width."""
    return f"{scale.at(ms) * 100:.3f}"


def render_timeline(steps: Sequence[Step]) -> Html:
    """Return the timeline as inline SVG, each bar a link to its step."""
    scale = make_scale(step_span_ms(step) for step in steps)
    rows = [
        ("phases", 20, _render_bars(scale, _group_steps(steps, _phase_label), 20, "phase")),
        ("items", 18, _render_bars(scale, _group_steps(steps, _item_label), 18, "item")),
        ("model", 12, _render_bars(scale, _bars_of_kind(steps, "model"), 12, "model")),
        ("tools", 12, _render_bars(scale, _bars_of_kind(steps, "tool", "refused"), 12, "tool")),
        ("files", 12, _render_dots(scale, steps)),
        ("tokens", 34, _render_tokens(scale, steps, 34)),
    ]
    names, drawn, y = [], [_render_axis(scale)], 20
    for name, height, content in rows:
        if content:
            names.append(element("span", {"class": f"r-{name}"}, text(name)))
            drawn.append(element("svg", {"y": y, "height": height, "width": "100%"}, content))
            y += height + 6
    drawn.append(
        element("line", {"id": "now", "x1": "0", "x2": "0", "y1": 14, "y2": y, "class": "now"})
    )
    graph: Attributes = {
        "id": "graph", "height": y, "width": "100%", "role": "group", "aria-label": "Timeline",
    }  # fmt: skip
    return joined(
        (
            element("div", {"class": "rows", "aria-hidden": "true"}, *names),
            element("div", {"class": "scroll"}, element("svg", graph, *drawn)),
        )
    )


def _phase_label(step: Step) -> tuple[str, str]:
    name = str(step.phase.value) if step.phase else ""
    return name, name


def _item_label(step: Step) -> tuple[str, str]:
    if not step.item:
        return "", ""
    again = f", attempt {step.attempt}" if step.attempt > 1 else ""
    return str(step.item), f"item {step.item}{again}"


def _group_steps(steps: Sequence[Step], of: Callable[[Step], tuple[str, str]]) -> list[_Bar]:
    """Return the stretches of steps that belong together, in order."""
    bars: list[_Bar] = []
    before = ""
    for step in steps:
        name, label = of(step)
        start, end = step_span_ms(step)
        if label and label == before:
            last = bars[-1]
            bars[-1] = msgspec.structs.replace(
                last,
                start_ms=min(last.start_ms, start),
                end_ms=max(last.end_ms, end),
                is_bad=last.is_bad or (step.kind == "item" and step.place.is_failure),
            )
        elif label:
            bars.append(_Bar(step.index, start, end, name, label))
        before = label
    return bars


def _bars_of_kind(steps: Sequence[Step], *kinds: str) -> list[_Bar]:
    found = (step for step in steps if step.kind in kinds)
    return [
        _Bar(step.index, *step_span_ms(step), "", step.title, step.place.is_failure)
        for step in found
    ]


def _render_bars(scale: Scale, bars: Sequence[_Bar], height: int, kind: str) -> Html:
    drawn = []
    for bar in bars:
        x = scale.at(bar.start_ms) * 100
        width = scale.at(bar.end_ms) * 100 - x
        box: Attributes = {"x": f"{x:.3f}%", "width": f"{width:.3f}%", "height": height}
        shapes = [element("rect", {**box, "class": kind, "rx": 1})]
        if bar.name and width > _NAMED_PERCENT:
            name = element("text", {"x": 5, "y": height - 6}, plain(bar.name))
            shapes.append(element("svg", box, name))
        label = f"{bar.label}, {duration(bar.end_ms - bar.start_ms)}"
        drawn.append(_render_link(bar.step, label, *shapes, is_bad=bar.is_bad))
    return joined(drawn)


def _render_dots(scale: Scale, steps: Sequence[Step]) -> Html:
    drawn = []
    for step in steps:
        if step.files:
            paths = ", ".join(file.path for file in step.files)
            x = f"{to_percent(scale, step_span_ms(step)[1])}%"
            dot = element("circle", {"cx": x, "cy": 6, "r": 3, "class": "file"})
            drawn.append(_render_link(step.index, f"changed {paths}", dot))
    return joined(drawn)


def _render_tokens(scale: Scale, steps: Sequence[Step], height: int) -> Html:
    """Return a bar for each turn's tokens: what went in, and darker what came out."""
    used = [(step, step.model.usage) for step in steps if step.model]
    most = max((usage.input_tokens + usage.output_tokens for _, usage in used), default=0)
    drawn = []
    for step, usage in used if most else ():
        start, end = step_span_ms(step)
        x = scale.at(start) * 100
        box: Attributes = {"x": f"{x:.3f}%", "width": f"{scale.at(end) * 100 - x:.3f}%"}
        shapes = []
        both = usage.input_tokens + usage.output_tokens
        for kind, tokens in (("tokens-in", both), ("tokens-out", usage.output_tokens)):
            tall = tokens / most * height
            at: Attributes = {"y": f"{height - tall:.2f}", "height": f"{tall:.2f}", "class": kind}
            shapes.append(element("rect", {**box, **at}))
        label = f"{count(usage.input_tokens)} tokens in, {count(usage.output_tokens)} out"
        drawn.append(_render_link(step.index, label, *shapes))
    return joined(drawn)


def _render_link(step: int, label: str, *shapes: Html, is_bad: bool = False) -> Html:
    attributes: Attributes = {
        "href": f"#step-{step}",
        "data-step": step,
        "tabindex": "-1",
        "aria-label": f"Step {step}: {label}",
        "class": "bad" if is_bad else None,
    }
    return element("a", attributes, *shapes)


def _render_axis(scale: Scale) -> Html:
    drawn = []
    for tick in scale.ticks():
        at = f"{to_percent(scale, tick.at_ms)}%"
        drawn.append(element("line", {"x1": at, "x2": at, "y1": 14, "y2": "100%", "class": "tick"}))
        since = duration(tick.since_ms) if tick.since_ms else "0"
        label = f"+{since}" if tick.is_behind_cut else since
        drawn.append(element("text", {"x": at, "y": 10}, plain(label)))
    for gap in scale.idle:
        # A cut is drawn as wide as `cut_ms`, whatever it leaves out; the title says how long that
        # is.
        x, end = scale.at(gap.start_ms) * 100, scale.at(gap.end_ms) * 100
        lasted = duration(gap.end_ms - gap.start_ms)
        label = f"{lasted} in which nothing happened"
        drawn.append(element("text", {"x": f"{(x + end) / 2:.3f}%", "y": 10}, plain(lasted)))
        box: Attributes = {
            "x": f"{x:.3f}%",
            "y": 14,
            "width": f"{end - x:.3f}%",
            "height": "100%",
            "class": "idle",
        }
        cut = element("g", {}, element("title", {}, plain(label)), element("rect", box))
        drawn.append(cut)
    return element("g", {"class": "axis"}, *drawn)
