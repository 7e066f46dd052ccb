"""HTML document of a run: the whole page, and its head with request, status and result."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template

from msgspec import UNSET

from kbd.core.audit.page.figures import count, duration, moment_ms
from kbd.core.audit.page.markup import Html, data_block, element, joined, plain, text
from kbd.core.audit.page.run_index import span, whole_of
from kbd.core.audit.page.step_list import files, filters, icons, plan, plan_changes, rows
from kbd.core.audit.page.step_view import article, badge
from kbd.core.audit.page.texts import note
from kbd.core.audit.page.timeline import place, scale_of, timeline
from kbd.messages import Usage
from kbd.requests.replays import Step
from kbd.requests.workshop import RunInfo
from kbd.types import BlobHash

__all__ = ["first_line", "head", "page_of"]

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


_EARLY = 'document.documentElement.classList.add("js")'
"""Runs before anything is drawn, so that nobody with scripts sees the page without."""


def page_of(
    run: RunInfo, request: str, steps: Sequence[Step], contents: Mapping[BlobHash, str]
) -> str:
    """Return a run as one HTML page that needs nothing but itself.

    The same arguments give the same text. The page can fetch nothing: its own policy forbids it.
    Without scripts it is a document of all steps; with them, one is shown at a time.

    Args:
        run: The run.
        request: What was asked for.
        steps: All its steps, in order.
        contents: The texts of the blobs of `blobs_of`. What is missing, or is more than the page
            may hold, is told as kept in the log.
    """
    whole = whole_of(steps, contents)
    scale = scale_of(span(step) for step in steps)
    style, script = _part("page.css"), _part("page.js")
    bottom = f"Written by kbd from the log of workbench {run.workbench_id}."
    if whole.left_out:
        left = count(len(whole.left_out), "text is", "texts are")
        bottom += f" {left} not in this page, for its size or because the log lacks them."
    return Template(_part("page.html")).substitute(
        script_hashes=f"{_hash(_EARLY)} {_hash(script)}",
        style_hash=_hash(style),
        title=plain(f"{first_line(request)} · {run.run_id}"),
        style=style,
        early=_EARLY,
        icons=icons(),
        head=head(run, request, steps),
        timeline=timeline(steps),
        filters=filters(run, steps),
        rows=rows(steps),
        articles=joined(article(step, whole, place(scale, span(step)[0])) for step in steps),
        aside=joined((plan(steps), files(steps))),
        bottom=note(bottom),
        data=data_block("data", plan_changes(whole)),
        script=script,
    )


def _part(name: str) -> str:
    return (Path(__file__).parent / name).read_text("utf-8")


def _hash(part: str) -> str:
    """Return what the policy knows a script or a style by."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}'"
