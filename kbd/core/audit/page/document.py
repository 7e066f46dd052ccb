"""HTML document of a run: the whole page, and its head with request, status and result."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template

from msgspec import UNSET

from kbd.core.audit.page.figures import count, duration, parse_time_ms
from kbd.core.audit.page.markup import Html, data_block, element, joined, plain, text
from kbd.core.audit.page.run_index import index_steps, step_span_ms
from kbd.core.audit.page.step_list import (
    plan_change_data,
    render_files,
    render_filters,
    render_icons,
    render_plan,
    render_rows,
)
from kbd.core.audit.page.step_view import badge, render_article
from kbd.core.audit.page.texts import note
from kbd.core.audit.page.timeline import make_scale, render_timeline, to_percent
from kbd.messages import Usage
from kbd.requests.replays import Step
from kbd.requests.workshop import RunInfo
from kbd.types import BlobHash

__all__ = ["first_line", "page_of", "render_head"]

REQUEST_CHARACTERS = 240
"""How much of the request heads the page; all of it is in its step."""


def first_line(request: str) -> str:
    """Return the first line of a request that says anything, cut if it is long."""
    line = next((line for line in request.splitlines() if line.strip()), "(no request)").strip()
    return line if len(line) <= REQUEST_CHARACTERS else line[:REQUEST_CHARACTERS] + "…"


def render_head(run: RunInfo, request: str, steps: Sequence[Step]) -> Html:
    """Return the head of the page."""
    told = (
        element("div", {}, element("dt", {}, text(name)), element("dd", {}, text(value)))
        for name, value in _render_facts(run, steps)
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


def _render_facts(run: RunInfo, steps: Sequence[Step]) -> list[tuple[str, str]]:
    def steps_like(*kinds: str) -> str:
        return count(sum(step.kind in kinds for step in steps))

    return [
        ("Model", run.model_id),
        ("Started", f"{run.started_at[:19].replace('T', ' ')} UTC"),
        ("Took", _render_duration(run, steps)),
        ("Steps", count(len(steps))),
        ("Model turns", steps_like("model")),
        ("Tool calls", steps_like("tool", "refused")),
        ("Failures", count(sum(step.place.is_failure for step in steps))),
        ("Files changed", count(len({file.path for step in steps for file in step.files}))),
        ("Tokens", _render_tokens(run.usage)),
        ("Cost", f"${run.cost:,.4f}" if run.cost else "none known"),
        ("Run", run.run_id),
    ]


def _render_tokens(used: Usage) -> str:
    if used == Usage():
        return "none counted"
    return f"{count(used.input_tokens)} in, {count(used.output_tokens)} out"


def _render_duration(run: RunInfo, steps: Sequence[Step]) -> str:
    start_ms = parse_time_ms(run.started_at)
    if run.ended_at is not UNSET:
        return duration(max(0.0, parse_time_ms(run.ended_at) - start_ms))
    last_ms = max((step_span_ms(step)[1] for step in steps), default=start_ms)
    return f"{duration(max(0.0, last_ms - start_ms))} so far"


_EARLY_SCRIPT = 'document.documentElement.classList.add("js")'
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
    whole = index_steps(steps, contents)
    scale = make_scale(step_span_ms(step) for step in steps)
    style, script = _read_asset("page.css"), _read_asset("page.js")
    bottom = f"Written by kbd from the log of workbench {run.workbench_id}."
    if whole.left_out:
        left = count(len(whole.left_out), "text is", "texts are")
        bottom += f" {left} not in this page, for its size or because the log lacks them."
    return Template(_read_asset("page.html")).substitute(
        script_hashes=f"{_csp_hash(_EARLY_SCRIPT)} {_csp_hash(script)}",
        style_hash=_csp_hash(style),
        title=plain(f"{first_line(request)} · {run.run_id}"),
        style=style,
        early=_EARLY_SCRIPT,
        icons=render_icons(),
        head=render_head(run, request, steps),
        timeline=render_timeline(steps),
        filters=render_filters(run, steps),
        rows=render_rows(steps),
        articles=joined(
            render_article(step, whole, to_percent(scale, step_span_ms(step)[0])) for step in steps
        ),
        aside=joined((render_plan(steps), render_files(steps))),
        bottom=note(bottom),
        data=data_block("data", plan_change_data(whole)),
        script=script,
    )


def _read_asset(name: str) -> str:
    return (Path(__file__).parent / name).read_text("utf-8")


def _csp_hash(part: str) -> str:
    """Return what the policy knows a script or a style by."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}'"
