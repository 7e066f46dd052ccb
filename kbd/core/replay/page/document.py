"""The page as a whole."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template

from kbd.core.replay.page.figures import count
from kbd.core.replay.page.head import first_line, head
from kbd.core.replay.page.lists import files, filters, icons, plan, plan_changes, rows
from kbd.core.replay.page.markup import data_block, joined, plain
from kbd.core.replay.page.scale import scale_of
from kbd.core.replay.page.steps import article
from kbd.core.replay.page.texts import note
from kbd.core.replay.page.timeline import place, timeline
from kbd.core.replay.page.whole import span, whole_of
from kbd.requests.replays import Step
from kbd.requests.workshop import RunInfo
from kbd.types import BlobHash

__all__ = ["page_of"]

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
