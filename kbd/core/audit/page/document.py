"""HTML document of a run: head, filters, list of steps, and the plan and files beside them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from string import Template

from msgspec import UNSET

from kbd.core.audit.html.assets import EARLY_SCRIPT, csp_hash, read_asset, shared_style
from kbd.core.audit.html.markup import (
    Attributes,
    Html,
    count,
    data_block,
    duration,
    element,
    joined,
    parse_time_ms,
    plain,
    size,
    text,
    visible,
)
from kbd.core.audit.page.run_index import RunIndex, file_versions, index_steps, step_span_ms
from kbd.core.audit.page.step_view import KINDS, badge, icon, link, note, render_article, render_row
from kbd.core.audit.page.timeline import make_scale, render_timeline, to_percent
from kbd.messages import Usage
from kbd.requests.replays import FileStep, ItemStep, Step
from kbd.requests.workshop import RunInfo
from kbd.types import BlobHash, Phase

__all__ = [
    "first_line",
    "page_of",
    "plan_change_data",
    "render_files",
    "render_filters",
    "render_head",
    "render_icons",
    "render_plan",
    "render_rows",
]


HASH_DIGITS = 12
"""How much of a version's hash its table shows; all of it is in its step."""

# Strokes on a grid of 16 by 16.
_ICONS = {
    "asked": "M2.5 3.5h11V11H7l-3 2.5V11H2.5z",
    "run": "M4.5 3v10l8-5z",
    "phase": "M4 14V3h8.5l-2 3 2 3H4",
    "model": "M8 1.8 9.7 6.3 14.2 8 9.7 9.7 8 14.2 6.3 9.7 1.8 8l4.5-1.7z",
    "tool": "m3 4.5 4 3.5-4 3.5M8.5 12H13",
    "refused": "M13.5 8a5.5 5.5 0 1 1-11 0 5.5 5.5 0 0 1 11 0zM4.1 4.1l7.8 7.8",
    "research": "M11 7a4 4 0 1 1-8 0 4 4 0 0 1 8 0zM10 10l3.8 3.8",
    "plan": "M2.5 4h1m-1 4h1m-1 4h1M6 4h7.5M6 8h7.5M6 12h7.5",
    "item": "M2.5 2.5h11v11h-11zM5 8.2l2.2 2.1L11 5.8",
    "summary": "M3 3.5h10m-10 3h10m-10 3h10m-10 3h5.5",
    "draft": "M3.5 1.8h6l3 3v9.4h-9zM9.5 1.8v3h3",
    "other": "M9.5 8a1.5 1.5 0 1 1-3 0 1.5 1.5 0 0 1 3 0z",
}


def render_icons() -> Html:
    """Return the signs of all kinds, to be used by name."""
    symbols = (
        element("symbol", {"id": f"i-{kind}", "viewBox": "0 0 16 16"}, element("path", {"d": path}))
        for kind, path in _ICONS.items()
    )
    return element("svg", {"class": "unseen", "aria-hidden": "true"}, *symbols)


def render_rows(steps: Sequence[Step]) -> Html:
    """Return the list of steps, under the phase and the item that they belong to."""
    return joined(_render_rows(steps))


def _render_rows(steps: Sequence[Step]) -> Iterator[Html]:
    before: tuple[Phase | None, int, int] = (None, 0, 0)
    for step in steps:
        where = (step.phase, step.item, step.attempt)
        if where != before:
            if step.place.text:
                label = f" · {step.place.label}" if step.place.label else ""
                yield element("li", {"class": "group"}, text(f"{step.place.text}{label}"))
            before = where
        yield render_row(step)


def render_filters(run: RunInfo, steps: Sequence[Step]) -> Html:
    """Render the filters of the list, each choice with the number of steps that it leaves."""
    labels = {str(item.index): f"{item.index} · {item.label}" for item in run.items}
    phases = Counter(step.phase.value for step in steps if step.phase)
    items = Counter(str(step.item) for step in steps if step.item)
    kinds = Counter(str(step.kind) for step in steps)
    tools = Counter(step.call.tool for step in steps if step.call)
    return element(
        "div",
        {"class": "filters"},
        _render_choice("phase", "Phase", phases, {}),
        _render_choice("item", "Item", items, labels),
        _render_choice("kind", "Kind", kinds, KINDS),
        _render_choice("tool", "Tool", Counter(dict(sorted(tools.items()))), {}),
        _render_switch("failed", "Failures", sum(step.place.is_failure for step in steps)),
        _render_switch("changed", "Changes", sum(bool(step.files) for step in steps)),
    )


def _render_choice(name: str, title: str, found: Counter[str], labels: dict[str, str]) -> Html:
    every = element("option", {"value": ""}, plain(f"{title}: all"))
    options = (
        element("option", {"value": value}, plain(f"{labels.get(value, value)} ({count})"))
        for value, count in found.items()
    )
    box: Attributes = {"name": name, "aria-label": title, "disabled": not found}
    return element("select", box, every, *options)


def _render_switch(name: str, title: str, count: int) -> Html:
    box = element("input", {"type": "checkbox", "name": name, "disabled": not count})
    return element("label", {}, box, text(f"{title} ({count})"))


def render_plan(steps: Sequence[Step]) -> Html:
    """Return the plan as it stands at the end; a script shows it as it stood at a step."""
    last: tuple[ItemStep, ...] = next((step.items for step in reversed(steps) if step.items), ())
    items = (
        element("li", {"data-state": item.state}, badge(item.state, item.state), _render_item(item))
        for item in last
    )
    empty = element("p", {"class": "note", "id": "unplanned", "hidden": bool(last)}, text("None."))
    title = element(
        "h2", {}, text("Plan "), element("small", {"id": "planned"}, text("at the end"))
    )
    return element(
        "section", {"class": "plan"}, title, element("ol", {"id": "plan"}, *items), empty
    )


def _render_item(item: ItemStep) -> Html:
    label, dash, rest = item.text.partition(" — ")
    return element("span", {}, element("b", {}, text(label)), text(dash + rest))


def plan_change_data(run_index: RunIndex) -> list[object]:
    """Return the plan's changes, oldest first, as data for the page's script."""
    return [
        [
            change.step,
            change.total,
            [[i.index, visible(i.text), i.state, visible(i.reason)] for i in change.items],
        ]
        for change in run_index.changes.values()
    ]


def render_files(steps: Sequence[Step]) -> Html:
    """Return the versions of each file that the run changed, in the order of the steps."""
    tables = [_render_versions(path, history) for path, history in file_versions(steps).items()]
    if not tables:
        tables.append(element("p", {"class": "note"}, text("None was changed.")))
    return element("section", {"class": "files"}, element("h2", {}, text("Files")), *tables)


def _render_versions(path: str, history: Sequence[tuple[Step, FileStep]]) -> Html:
    lines = []
    for step, file in history:
        cells = [
            element("td", {}, link(step.index, str(step.index))),
            element("td", {}, text(file.change)),
            element("td", {"class": "figure"}, text(size(file.size_bytes) if file.after else "")),
            element("td", {}, element("code", {}, text((file.after or "")[:HASH_DIGITS]))),
        ]
        lines.append(element("tr", {"data-step": step.index}, *cells))
    heads = [
        element("th", {"scope": "col"}, text(name))
        for name in ("Step", "Change", "Size", "SHA-256")
    ]
    caption = element("caption", {}, icon("draft"), text(path))
    header = element("thead", {}, element("tr", {}, *heads))
    return element("table", {}, caption, header, element("tbody", {}, *lines))


REQUEST_CHARACTERS = 240
"""How much of the request heads the page; all of it is in its step."""


def first_line(request: str) -> str:
    """Return the first line of a request that says anything, cut if it is long."""
    line = next((line for line in request.splitlines() if line.strip()), "(no request)").strip()
    return line if len(line) <= REQUEST_CHARACTERS else line[:REQUEST_CHARACTERS] + "…"


def render_head(run: RunInfo, request: str, steps: Sequence[Step]) -> Html:
    """Return the head of the page."""
    facts = (
        element("div", {}, element("dt", {}, text(name)), element("dd", {}, text(value)))
        for name, value in _render_facts(run, steps)
    )
    parts = [
        element("p", {"class": "over"}, text("A run of kbd"), badge(run.status, run.status)),
        element("h1", {"dir": "auto"}, text(first_line(request))),
        element("dl", {}, *facts),
    ]
    if run.error is not UNSET:
        code = badge(run.error.error_code, "bad")
        parts.append(element("p", {"class": "error"}, code, text(" " + run.error.message)))
    if run.reason is not UNSET:
        parts.append(element("p", {"class": "error"}, text(f"Nothing was done: {run.reason}")))
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
    run_index = index_steps(steps, contents)
    scale = make_scale(step_span_ms(step) for step in steps)
    style = shared_style() + read_asset(__file__, "page.css")
    script = read_asset(__file__, "page.js")
    bottom = f"Written by kbd from the log of workbench {run.workbench_id}."
    if run_index.left_out:
        left = count(len(run_index.left_out), "text is", "texts are")
        bottom += f" {left} not in this page, for its size or because the log lacks them."
    # What is put in is not looked at again: a `$` in a text stays one.
    return Template(read_asset(__file__, "page.html")).substitute(
        # No `unsafe-inline`: only scripts with these hashes run (CSP, hash-source), whatever the
        # texts of files and models hold.
        script_hashes=f"{csp_hash(EARLY_SCRIPT)} {csp_hash(script)}",
        style_hash=csp_hash(style),
        title=plain(f"{first_line(request)} · {run.run_id}"),
        style=style,
        early=EARLY_SCRIPT,
        icons=render_icons(),
        head=render_head(run, request, steps),
        timeline=render_timeline(steps),
        filters=render_filters(run, steps),
        rows=render_rows(steps),
        articles=joined(
            render_article(step, run_index, to_percent(scale, step_span_ms(step)[0]))
            for step in steps
        ),
        aside=joined((render_plan(steps), render_files(steps))),
        bottom=note(bottom),
        data=data_block("data", plan_change_data(run_index)),
        script=script,
    )
