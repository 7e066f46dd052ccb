"""`kbd review`: show what the draft changes, file by file and inside each file."""

import argparse
import json
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from kbd.cli.diff_view import RUN_LENGTH, Line, Segment, Style, render_counts, render_diff
from kbd.cli.exits import OK
from kbd.cli.link import call, connect
from kbd.cli.names import find_workbench
from kbd.cli.new_file import check_new_file
from kbd.cli.pager import has_color, show_lines
from kbd.cli.terminal import columns, counted, line, note, render_table, say, size, wrap
from kbd.client.blocking import Client

__all__ = ["changed_paths", "command", "read_diff", "render_changes", "render_file", "review_lines"]

EXCERPT_CHANGES = 60
"""Changes of a file that are shown beside those of other files."""

SUMMARY_LINES = 4
"""Lines of the run's summary: the first screen is for what changed."""


def render_changes(changes: list[dict[str, Any]], answer: str = "") -> str:
    """Render the changes as a table, each warning below it.

    Args:
        changes: Of `ReviewGetChangeSet`.
        answer: What was printed before; a warning that stands there is not printed again.
    """
    if not changes:
        return "No changes."
    rows = [
        (
            str(change["change_type"]),
            str(change["path"]),
            _render_sizes(change),
            _render_ranges(change.get("items") or ()),
        )
        for change in changes
    ]
    warnings = [
        f"  ! {line(str(change['path']))}: {line(str(warning))}"
        for change in changes
        for warning in change.get("warnings") or ()
        if str(warning) not in answer
    ]
    return "\n".join([render_table(("change", "file", "size", "items"), rows), *warnings])


def changed_paths(changes: list[dict[str, Any]]) -> list[str]:
    """Return the files that exist with new content after a publish."""
    return [str(each["path"]) for each in changes if each["change_type"] != "deleted"]


def _render_ranges(items: Sequence[int]) -> str:
    """Return the numbers, neighbors as a range: 1-3, 5."""
    ranges: list[list[int]] = []
    for item in sorted(items):
        if ranges and item == ranges[-1][-1] + 1:
            # Only the ends are kept: [3] becomes [3, 4], and that [3, 5].
            ranges[-1][1:] = [item]
        else:
            ranges.append([item])
    return ", ".join("-".join(str(end) for end in ends) for ends in ranges)


def _render_sizes(change: dict[str, Any]) -> str:
    before, after = change.get("size_before"), change.get("size_bytes")
    match change["change_type"]:
        case "deleted":
            return "" if before is None else f"was {size(before)}"
        case "modified" if before is not None:
            return f"{size(before)} -> {size(after or 0)}"
        case _:
            return size(after or 0)


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd review` and return what runs it."""
    parser.epilog = """\
examples:
  kbd review taxes                       what the draft changes, file by file
  kbd review taxes summary-2025          all that it changes inside this file
  kbd review taxes accounts --sheet Q3   only one sheet of it
  kbd review taxes --stat                how much, a line a file
  kbd review taxes --html changes.html   all of it as one page that opens offline
  kbd review taxes --json

On a terminal the changes go through $KBD_PAGER or $PAGER, else less."""
    parser.add_argument("workbench", metavar="WB", help="its id, the beginning of it, or its name")
    parser.add_argument(
        "file", nargs="?", metavar="FILE", help="only this file, all of its changes"
    )
    parser.add_argument("--sheet", metavar="NAME", help="only this sheet of a workbook")
    parser.add_argument(
        "--key", metavar="COLUMN", action="append", help="pair the rows of a table by this column"
    )
    parser.add_argument(
        "--whole", action="store_true", help="the whole text around what changed, not three lines"
    )
    parser.add_argument("--stat", action="store_true", help="only how much changed, a line a file")
    parser.add_argument("--html", metavar="PAGE", help="write the changes as one page")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="auto: on a terminal"
    )
    parser.add_argument("--no-pager", action="store_true", help="print at once")
    return _review


def _review(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        workbench_id = str(find_workbench(client, arguments.workbench)["id"])
        if arguments.html is not None:
            return _write_page(client, workbench_id, arguments)
        found = call(client, "ReviewGetChangeSet", {"workbench_id": workbench_id})
        if found["draft_id"] is None:
            say(json.dumps(found) if arguments.json else "There is no draft.")
            return OK
        if arguments.json:
            say(json.dumps(_json_report(client, workbench_id, found, arguments)))
            return OK
        lines = _review_lines(client, workbench_id, found, arguments)
        show_lines(lines, color=has_color(arguments.color), paged=not arguments.no_pager)
    note(f"Publish: kbd publish {workbench_id}   Throw away: kbd discard {workbench_id}")
    return OK


def _write_page(client: Client, workbench_id: str, arguments: argparse.Namespace) -> int:
    """Have the daemon write the page, of all files or of one, to a new file.

    Raises:
        Stop: The page exists, or cannot be written.
        RequestRefused: There is no draft, or it changes no such file.
    """
    check_new_file(arguments.html)
    # The daemon writes it, and works in another folder.
    asked = {"workbench_id": workbench_id, "target": os.path.abspath(arguments.html)}
    if arguments.file is not None:
        asked["path"] = arguments.file
    made = call(client, "ReviewGetHtml", asked, slow=True)
    if arguments.json:
        say(json.dumps(made))
    else:
        say(f"{arguments.html}: {counted(made['files'], 'file')}, {size(made['size_bytes'])}")
    return OK


def _json_report(
    client: Client, workbench_id: str, found: dict[str, Any], arguments: argparse.Namespace
) -> dict[str, Any]:
    """Return a file's comparison, or the change set with those of all files under `diffs`."""
    options = _options(arguments)
    if arguments.file is not None:
        return read_diff(client, workbench_id, arguments.file, options)
    paths = [str(change["path"]) for change in found["changes"]]
    diffs = {path: read_diff(client, workbench_id, path, options) for path in paths}
    return {**found, "diffs": diffs}


def _review_lines(
    client: Client, workbench_id: str, found: dict[str, Any], arguments: argparse.Namespace
) -> Iterator[Line]:
    width = columns(otherwise=100)
    if arguments.file is not None:
        diff = read_diff(client, workbench_id, arguments.file, _options(arguments))
        path = str(diff["path"])
        change = next((each for each in found["changes"] if each["path"] == path), None)
        yield from render_file(change, diff, width, is_excerpt=False)
        return
    if arguments.stat:
        for change in found["changes"]:
            diff = _excerpt(client, workbench_id, str(change["path"]), _options(arguments))
            yield from _render_head(change, diff, width)
        return
    yield from review_lines(client, workbench_id, found, width, _options(arguments))


def review_lines(
    client: Client,
    workbench_id: str,
    found: dict[str, Any],
    width: int,
    options: Mapping[str, Any] = MappingProxyType({}),
) -> Iterator[Line]:
    """Yield what a draft changes: its summary, then each file with the first of its changes.

    Args:
        client: Connected.
        workbench_id: The workbench.
        found: Its change set.
        width: The columns of a line.
        options: What the comparisons are narrowed to.
    """
    # Of a draft that clients made there is none.
    summary = str(found.get("draft_summary") or "")
    if summary:
        for text in wrap(summary, width)[:SUMMARY_LINES]:
            yield (("", text),)
    # What was there before is what can be spoiled: it comes first.
    order = sorted(found["changes"], key=lambda change: change["change_type"] == "added")
    for index, change in enumerate(order):
        diff = _excerpt(client, workbench_id, str(change["path"]), options)
        if summary or index:
            yield ()
        yield from render_file(change, diff, width, is_excerpt=True)
        if diff["total"] > len(diff["changes"]) or len(diff["changes"]) > RUN_LENGTH:
            hint = f"    all of it: kbd review {workbench_id} {shlex.quote(str(change['path']))}"
            yield (("dim", hint),)


def render_file(
    change: Mapping[str, Any] | None, diff: Mapping[str, Any], width: int, *, is_excerpt: bool
) -> Iterator[Line]:
    """Yield a file's line of the change set and the changes inside it.

    Args:
        change: Its entry in the change set; None for a file that the draft leaves as it is.
        diff: Its comparison.
        width: The columns of a line.
        is_excerpt: Whether long runs of like changes are cut short.
    """
    if change is None:
        yield (("bold", line(str(diff["path"]), width)), ("", "  is not changed"))
        return
    yield from _render_head(change, diff, width)
    for warning in change.get("warnings") or ():
        yield from ((("warning", f"  {text}"),) for text in wrap(f"! {warning}", width - 2))
    yield from render_diff(diff, width, is_excerpt=is_excerpt)


def _render_head(change: Mapping[str, Any], diff: Mapping[str, Any], width: int) -> Iterator[Line]:
    """Yield the line that names a file, and how much changes in it."""
    kind = str(change["change_type"])
    style: Style = {"added": "added", "deleted": "removed", "renamed": "moved"}.get(kind, "bold")  # type: ignore[assignment]
    path = line(str(change["path"]), max(width - len(kind) - 2, 20))
    head: list[Segment] = [(style, f"{kind} "), ("bold", path)]
    previous = change.get("previous_path")
    if previous:
        head.append(("", f"  was {line(str(previous))}"))
    rest: list[str] = [_render_sizes(dict(change))]
    if change.get("items"):
        rest.append(f"items {_render_ranges(change['items'])}")
    facts = "   ".join(each for each in rest if each)
    yield (*head, ("dim", f"   {facts}")) if len(path) + len(facts) + 16 < width else tuple(head)
    yield from ((("", f"  {text}"),) for text in wrap(render_counts(diff), width - 2))


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what the comparison is narrowed to, as the request takes it."""
    given = {
        "sheet": arguments.sheet,
        "key": arguments.key,
        "context_lines": -1 if arguments.whole else None,
    }
    return {name: value for name, value in given.items() if value is not None}


def _excerpt(
    client: Client, workbench_id: str, path: str, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Read the first changes of a file."""
    params = {"workbench_id": workbench_id, "path": path, "limit": EXCERPT_CHANGES, **options}
    found: dict[str, Any] = call(client, "ReviewGetDiff", params, slow=True)
    return found


def read_diff(
    client: Client, workbench_id: str, path: str, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Read all changes of a file that the daemon lists, page by page."""
    params = {"workbench_id": workbench_id, "path": path, "limit": 1000, **options}
    whole: dict[str, Any] = call(client, "ReviewGetDiff", params, slow=True)
    page = whole
    while page["has_more"]:
        more = {**params, "offset": page["next_offset"]}
        page = call(client, "ReviewGetDiff", more, slow=True)
        whole["changes"] += page["changes"]
        if "hunks" in page:
            known = {hunk["after_start"] for hunk in whole["hunks"]}
            whole["hunks"] += [each for each in page["hunks"] if each["after_start"] not in known]
    whole["has_more"] = False
    whole.pop("next_offset", None)
    return whole
