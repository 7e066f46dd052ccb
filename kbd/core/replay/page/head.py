"""What heads the page: the request, how its run stands, and what it came to."""

from collections.abc import Sequence

from msgspec import UNSET

from kbd.core.replay.page.figures import count, duration, moment_ms
from kbd.core.replay.page.markup import Html, element, joined, text
from kbd.core.replay.page.steps import badge
from kbd.core.replay.page.whole import span
from kbd.messages import Usage
from kbd.requests.replays import Step
from kbd.requests.workshop import RunInfo

__all__ = ["first_line", "head"]

REQUEST_CHARACTERS = 240
"""How much of the request heads the page; all of it is in its step."""


def first_line(request: str) -> str:
    """Return the first line of a request that says anything, cut if it is long."""
    line = next((line for line in request.splitlines() if line.strip()), "(no request)").strip()
    return line if len(line) <= REQUEST_CHARACTERS else line[:REQUEST_CHARACTERS] + "…"


def head(run: RunInfo, request: str, steps: Sequence[Step]) -> Html:
    """Return the head of the page."""
    told = (
        element("div", {}, element("dt", {}, text(name)), element("dd", {}, text(value)))
        for name, value in _facts(run, steps)
    )
    parts = [
        element("p", {"class": "over"}, text("A run of kbd"), badge(run.status, run.status)),
        element("h1", {"dir": "auto"}, text(first_line(request))),
        element("dl", {}, *told),
    ]
    if run.error is not UNSET:
        code = badge(run.error.error_code, "bad")
        parts.append(element("p", {"class": "error"}, code, text(" " + run.error.message)))
    return joined(parts)


def _facts(run: RunInfo, steps: Sequence[Step]) -> list[tuple[str, str]]:
    def steps_like(*kinds: str) -> str:
        return count(sum(step.kind in kinds for step in steps))

    return [
        ("Model", run.model_id),
        ("Started", f"{run.started_at[:19].replace('T', ' ')} UTC"),
        ("Took", _took(run, steps)),
        ("Steps", count(len(steps))),
        ("Model turns", steps_like("model")),
        ("Tool calls", steps_like("tool", "refused")),
        ("Failures", count(sum(step.place.is_failure for step in steps))),
        ("Files changed", count(len({file.path for step in steps for file in step.files}))),
        ("Tokens", _tokens(run.usage)),
        ("Cost", f"${run.cost:,.4f}" if run.cost else "none known"),
        ("Run", run.run_id),
    ]


def _tokens(used: Usage) -> str:
    if used == Usage():
        return "none counted"
    return f"{count(used.input_tokens)} in, {count(used.output_tokens)} out"


def _took(run: RunInfo, steps: Sequence[Step]) -> str:
    start_ms = moment_ms(run.started_at)
    if run.ended_at is not UNSET:
        return duration(max(0.0, moment_ms(run.ended_at) - start_ms))
    last_ms = max((span(step)[1] for step in steps), default=start_ms)
    return f"{duration(max(0.0, last_ms - start_ms))} so far"
