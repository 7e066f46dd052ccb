"""HTML document of a review: what a draft changes, on one page that needs nothing but itself."""

from collections import Counter
from collections.abc import Sequence
from string import Template

from kbd.core.audit.html.assets import (
    EARLY_SCRIPT,
    csp_hash,
    dark_style,
    light_style,
    read_asset,
)
from kbd.core.audit.html.markup import Attributes, Html, count, element, joined, plain, text
from kbd.core.audit.review_page.change_view import SIGNS
from kbd.core.audit.review_page.file_view import kinds_of, render_file, type_sign
from kbd.core.audit.review_page.records import DraftReview, FileReview
from kbd.requests.base import Unset

__all__ = ["MAX_PAGE_CHARACTERS", "page_of", "piece_of", "piece_style"]

MAX_PAGE_CHARACTERS = 64 * 1024 * 1024
"""Markup of all files; those past it are named and not drawn."""


def piece_of(review: FileReview, number: int = 1) -> str:
    """Return one file as markup without script and style, to be embedded by a host.

    Args:
        review: The file.
        number: What the ids in it begin with, so that several pieces fit into one page.
    """
    return render_file(review, number)


def piece_style() -> str:
    """Return the style of pieces, in the colors of the reader's system."""
    dark = f"@media screen and (prefers-color-scheme: dark) {{\n{dark_style()}}}\n"
    return f"{_style()}{dark}"


def _style() -> str:
    return light_style() + read_asset(__file__, "page.css")


def page_of(review: DraftReview) -> str:
    """Return a review as one HTML page; the same review gives the same text.

    The page can fetch nothing: its own policy forbids it. All of it is there without scripts; with
    them it is filtered and walked through.

    Args:
        review: The draft.
    """
    style, dark, script = _style(), dark_style(), read_asset(__file__, "page.js")
    title = f"Review of {review.name}"
    # What is put in is not looked at again: a `$` in a text stays one.
    return Template(read_asset(__file__, "page.html")).substitute(
        # No `unsafe-inline`: only scripts and styles with these hashes count (CSP, hash-source),
        # whatever the texts of files and models hold.
        script_hashes=f"{csp_hash(EARLY_SCRIPT)} {csp_hash(script)}",
        style_hashes=f"{csp_hash(style)} {csp_hash(dark)}",
        title=plain(title),
        style=style,
        dark=dark,
        early=EARLY_SCRIPT,
        head=_render_head(review),
        filters=_render_filters(review.files),
        files=_render_index(review.files),
        reviews=joined(_render_files(review.files)),
        bottom=element(
            "p",
            {"class": "note"},
            text(f"Written by kbd from the draft of workbench {review.workbench_id}."),
        ),
        script=script,
    )


def _render_head(review: DraftReview) -> Html:
    rows = review.change_set.changes
    found = _sum_kinds(review.files)
    facts = [
        ("Files", count(len(rows))),
        ("Changes", count(found.total())),
        *((kind.capitalize(), f"{SIGNS[kind]} {count(found[kind])}") for kind in SIGNS),
        ("Workbench", review.workbench_id),
        ("Draft", review.change_set.draft_id or "none"),
    ]
    parts = [
        element("p", {"class": "over"}, text("Review of a draft")),
        element("h1", {"dir": "auto"}, text(review.name)),
        element(
            "dl",
            {},
            *(
                element("div", {}, element("dt", {}, text(name)), element("dd", {}, text(value)))
                for name, value in facts
            ),
        ),
    ]
    summary = review.change_set.draft_summary
    if not isinstance(summary, Unset) and summary.strip():
        parts.append(
            element("section", {"class": "summary"}, element("p", {"dir": "auto"}, text(summary)))
        )
    return joined((*parts, _render_questions(review)))


def _sum_kinds(files: Sequence[FileReview]) -> Counter[str]:
    found: Counter[str] = Counter()
    for review in files:
        found.update(kinds_of(review))
    return found


def _render_questions(review: DraftReview) -> Html:
    """Return what a publish asks for, and what must be seen before it."""
    asked: list[tuple[str, str, str]] = [
        *((path, "Deletion to confirm", "publish asks") for path in review.deletions.pending),
        *((path, "Deletion", "confirmed") for path in review.deletions.confirmed),
        *(
            (row.path, "Warning", each)
            for row in review.change_set.changes
            for each in row.warnings
        ),
        *((each.row.path, "Not compared", each.problem) for each in review.files if each.problem),
    ]
    numbers = {str(each.row.path): number for number, each in enumerate(review.files, 1)}
    lines = [_render_question(numbers.get(path), path, what, why) for path, what, why in asked]
    if not lines:
        return Html("")
    title = element("h2", {}, text("Before you publish"))
    return element("section", {"class": "questions"}, title, element("ul", {}, *lines))


def _render_question(number: int | None, path: str, what: str, why: str) -> Html:
    name = element("span", {"dir": "auto"}, text(path))
    if number is not None:
        name = element("a", {"href": f"#f{number}"}, name)
    reason = element("span", {"dir": "auto"}, text(why))
    return element("li", {}, element("b", {}, text(what)), text(": "), name, text(" — "), reason)


def _render_filters(files: Sequence[FileReview]) -> Html:
    found = _sum_kinds(files)
    parts = [
        element(
            "label",
            {"class": f"kind {kind}"},
            element(
                "input",
                {"type": "checkbox", "name": kind, "checked": True, "disabled": not found[kind]},
            ),
            element("b", {"class": "sign", "aria-hidden": "true"}, text(sign)),
            text(f"{kind.capitalize()} ({count(found[kind])})"),
        )
        for kind, sign in SIGNS.items()
    ]
    options = [element("option", {"value": ""}, text("All files"))]
    options += [
        element("option", {"value": number}, plain(review.row.path))
        for number, review in enumerate(files, 1)
    ]
    choice: Attributes = {
        "name": "file",
        "aria-label": "Show only the file",
        "disabled": len(files) < 2,
    }
    return joined((*parts, element("select", choice, *options)))


def _render_index(files: Sequence[FileReview]) -> Html:
    """Return the list of files, each with how many changes of each kind it has."""
    return element("ol", {}, *(_render_entry(each, n) for n, each in enumerate(files, 1)))


def _render_entry(review: FileReview, number: int) -> Html:
    counts = [
        element(
            "span",
            {"class": f"count {kind}", "title": f"{count(total)} {kind}"},
            element("span", {"aria-hidden": "true"}, text(f"{SIGNS[kind]}{count(total)}")),
            element("span", {"class": "unseen"}, text(f" {count(total)} {kind}")),
        )
        for kind, total in kinds_of(review).items()
        if total
    ]
    name = element("span", {"class": "path", "dir": "auto"}, text(review.row.path))
    link = element(
        "a",
        {"href": f"#f{number}"},
        type_sign(review.row),
        name,
        element("span", {"class": "counts"}, *counts),
    )
    return element("li", {"data-file": number}, link)


def _render_files(files: Sequence[FileReview]) -> list[Html]:
    found: list[Html] = []
    room = MAX_PAGE_CHARACTERS
    for number, review in enumerate(files, 1):
        piece = render_file(review, number)
        if len(piece) > room:
            words = "Not drawn here: the page is as long as a page may be."
            piece = render_file(FileReview(row=review.row, problem=words), number)
        room -= len(piece)
        found.append(piece)
    return found
