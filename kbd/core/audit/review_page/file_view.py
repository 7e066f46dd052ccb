"""View of one file of a review: its facts, its warnings, and its changes in the form that fits.

Cells are shown in grids, lines in hunks, slides and pages as cards with their pictures, everything
else as a list. The piece stands on its own: a host may embed it with the style of the page.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kbd.core.audit.html.markup import Attributes, Html, count, element, joined, size, text
from kbd.core.audit.review_page.change_view import (
    AROUND_CHARACTERS,
    SIGNS,
    change_attributes,
    render_changes,
    render_maker,
    render_words,
)
from kbd.core.audit.review_page.grid_view import render_sheet
from kbd.core.audit.review_page.neighborhood import Axis, sheet_of, unit_axis, unit_number
from kbd.core.audit.review_page.records import FileReview, PicturePair
from kbd.lookalikes import excerpt
from kbd.requests.base import Unset
from kbd.requests.drafts import ChangeRow
from kbd.requests.formats import PreviewPicture
from kbd.requests.reviews import ContentChange, ContentDiff, DiffHunk, DiffHunkLine

__all__ = ["CHANGE_TYPES", "MAX_DRAWN", "drawn_changes", "kinds_of", "render_file", "type_sign"]

MAX_DRAWN = 500
"""Changes of one file that are drawn; the rest is counted."""

MAX_LINE_CHARACTERS = 2000
"""Of one line of a text; the rest is cut."""

CHANGE_TYPES: Mapping[str, str] = {
    "added": "+",
    "modified": "~",
    "deleted": "−",
    "renamed": "→",
}
"""What stands for each thing that can happen to a file."""

_OPEN_PICTURES = 4
"""Pairs of pictures that are shown at once; more are a click away."""

_Numbered = tuple[int, ContentChange]


def type_sign(row: ChangeRow) -> Html:
    """Return the sign of what happened to a file, with its word for those who do not see it."""
    sign = CHANGE_TYPES[row.change_type]
    return joined(
        (
            element("b", {"class": f"sign {row.change_type}", "aria-hidden": "true"}, text(sign)),
            element("span", {"class": "unseen"}, text(f"{row.change_type} ")),
        )
    )


def drawn_changes(review: FileReview) -> tuple[ContentChange, ...]:
    """Return the changes of a file that are drawn."""
    return () if review.diff is None else review.diff.changes[:MAX_DRAWN]


def kinds_of(review: FileReview) -> dict[str, int]:
    """Return how many changes of each kind a file has, those included that are not drawn."""
    found = dict.fromkeys(SIGNS, 0)
    for each in review.diff.counts if review.diff is not None else ():
        found[each.kind] += each.count
    return found


def render_file(review: FileReview, number: int) -> Html:
    """Return all of a file as one piece of markup.

    Args:
        review: The file.
        number: Its place in the page, from 1; it begins the ids of the piece.
    """
    row = review.row
    title = element(
        "h2",
        {"id": f"f{number}"},
        type_sign(row),
        element("span", {"class": "path", "dir": "auto"}, text(row.path)),
    )
    parts = [element("header", {}, title, _render_facts(review)), _render_warnings(review)]
    if review.problem:
        parts.append(element("p", {"class": "alert"}, text(review.problem)))
    if review.diff is not None:
        parts.append(_render_diff(number, review, review.diff))
    attributes: Attributes = {
        "class": f"file {row.change_type}",
        "data-file": number,
        "aria-labelledby": f"f{number}",
    }
    return element("article", attributes, *parts)


def _render_facts(review: FileReview) -> Html:
    row = review.row
    facts = [text(row.change_type), text(row.file_kind)]
    if not isinstance(row.previous_path, Unset):
        facts.append(joined((text("was "), element("code", {}, text(row.previous_path)))))
    if row.change_type == "deleted":
        before = 0 if isinstance(row.size_before, Unset) else row.size_before
        facts.append(text(f"was {size(before)}"))
    elif isinstance(row.size_before, Unset) or row.size_before == row.size_bytes:
        facts.append(text(size(row.size_bytes)))
    else:
        facts.append(text(f"{size(row.size_before)} → {size(row.size_bytes)}"))
    if row.run_id is not None:
        items = f", items {', '.join(map(str, row.items))}" if row.items else ""
        facts.append(text(f"run {row.run_id.rpartition('-')[2]}{items}"))
    if review.diff is not None:
        facts += [
            text(f"{count(each.count, each.what)} {each.kind}") for each in review.diff.counts
        ]
    return element("p", {"class": "facts"}, *(element("span", {}, each) for each in facts))


def _render_warnings(review: FileReview) -> Html:
    words = list(review.row.warnings)
    diff = review.diff
    if diff is not None:
        if not isinstance(diff.reference_warning, Unset):
            words.append(f"{diff.reference_label}: {diff.reference_warning}")
        words += diff.warnings
    items = (element("li", {"dir": "auto"}, text(each)) for each in words)
    return element("ul", {"class": "warnings"}, *items) if words else Html("")


def _render_diff(number: int, review: FileReview, diff: ContentDiff) -> Html:
    numbered = list(enumerate(drawn_changes(review)))
    parts: list[Html] = []
    if not isinstance(diff.hunks, Unset) and diff.hunks:
        hunks, numbered = _render_hunks(number, diff.hunks, numbered)
        parts.append(hunks)
    shown: set[int] = set()
    for kind, name, changes in _groups(numbered):
        parts.append(_render_group(number, review, kind, name, changes, shown))
    left = [pair for place, pair in enumerate(review.pictures) if place not in shown]
    parts.append(_render_gallery(left, review.pictures_left_out))
    parts += [element("p", {"class": "note"}, text(each)) for each in _notes(review)]
    if diff.total > len(drawn_changes(review)):
        drawn = count(len(drawn_changes(review)))
        words = f"Of {count(diff.total, 'change')} the first {drawn} are shown here."
        parts.append(element("p", {"class": "alert"}, text(words)))
    if not diff.total:
        parts.append(element("p", {"class": "note"}, text("The contents are the same.")))
    return joined(parts)


def _groups(changes: Sequence[_Numbered]) -> Iterator[tuple[str, str, list[_Numbered]]]:
    """Yield changes by sheet, slide or page, in the order in which the file has them first."""
    axes = {unit: unit_axis((change for _, change in changes), unit) for unit in ("slide", "page")}
    groups: dict[tuple[str, str], list[_Numbered]] = {}
    last = ("", "")
    for index, change in changes:
        group = _group_of(change, axes)
        if group is None:
            # What belongs to no sheet or slide stays where it is in the file's order.
            group = last if last[0] == "list" else ("list", str(len(groups)))
        groups.setdefault(group, []).append((index, change))
        last = group
    for (kind, name), found in groups.items():
        yield kind, name, found


def _group_of(change: ContentChange, axes: Mapping[str, Axis]) -> tuple[str, str] | None:
    place = change.place
    if not isinstance(place.sheet, Unset):
        return "sheet", place.sheet
    if sheet_of(place) == "":
        return "table", ""
    for unit, axis in axes.items():
        number = unit_number(place, unit)
        if not number:
            continue
        if change.kind != "removed":
            return unit, str(number)
        # What was removed names its place in the version before.
        if number in axis.removed:
            return unit, f"{_GONE}{number}"
        return unit, str(axis.after_of(axis.common_before(number)))
    return None


_GONE = "removed "


def _render_group(
    number: int,
    review: FileReview,
    kind: str,
    name: str,
    changes: list[_Numbered],
    shown: set[int],
) -> Html:
    """Return one sheet, slide, page or list; pictures that are used are noted in `shown`."""
    if kind == "list":
        return element("section", {"class": "group"}, render_changes(number, changes))
    is_gone = name.startswith(_GONE)
    number_text = f"{name.removeprefix(_GONE)} (removed)" if is_gone else name
    label = {"sheet": name, "table": "Rows"}.get(kind, f"{kind.capitalize()} {number_text}")
    title = element("h3", {"dir": "auto"}, text(label))
    if kind in ("sheet", "table"):
        grids = next((each for each in review.grids if each.sheet == name), None)
        body = (
            render_changes(number, changes)
            if grids is None
            else render_sheet(number, grids, changes)
        )
        return element("section", {"class": f"group {kind}"}, title, body)
    pictures: list[Html] = []
    for place, pair in enumerate(review.pictures):
        is_it = pair.unit == kind and str(pair.number) == name.removeprefix(_GONE)
        if is_it and place not in shown and (pair.after is None) == is_gone:
            shown.add(place)
            pictures.append(_render_pictures(pair))
            break
    return element(
        "section", {"class": f"group {kind}"}, title, *pictures, render_changes(number, changes)
    )


def _render_pictures(pair: PicturePair) -> Html:
    """Return both pictures of a page, slide or image side by side."""
    label = pair.unit if pair.unit == "picture" else f"{pair.unit} {pair.number}"
    sides = [
        _render_picture("Before", label, pair.before),
        _render_picture("After", label, pair.after),
    ]
    return element("div", {"class": "pair pictures"}, *sides)


def _render_picture(side: str, label: str, picture: PreviewPicture | None) -> Html:
    title = element("b", {}, text(side))
    if picture is None:
        empty = element("p", {"class": "empty"}, text("not in this version"))
        return element("figure", {}, element("figcaption", {}, title), empty)
    image = element(
        "img",
        {
            "src": f"data:{picture.mime_type};base64,{picture.base64}",
            "alt": f"{label}, {side.lower()}",
            "width": picture.width,
            "height": picture.height,
        },
    )
    caption = element("figcaption", {}, title, text(f" {label}"))
    return element("figure", {}, caption, image)


def _notes(review: FileReview) -> dict[str, None]:
    """Return why something is not shown, and what must be known of the pictures, each once."""
    pictures = (each for pair in review.pictures for each in (pair.before, pair.after))
    found = dict.fromkeys(review.notes)
    return found | dict.fromkeys(words for each in pictures if each for words in each.warnings)


def _render_gallery(pairs: Sequence[PicturePair], left_out: int) -> Html:
    """Return the pictures that belong to no change of their own."""
    parts = [_render_pictures(pair) for pair in pairs]
    note = (
        element("p", {"class": "note"}, text(f"{count(left_out, 'more picture')} left out."))
        if left_out
        else Html("")
    )
    if not parts:
        return note
    if pairs[0].unit == "picture":
        return element("section", {"class": "group"}, *parts, note)
    same = " (no page looks other than before)" if all(pair.is_same for pair in pairs) else ""
    summary = element("summary", {}, text(f"{count(len(pairs), pairs[0].unit)} as pictures{same}"))
    attributes: Attributes = {"class": "group gallery", "open": len(pairs) <= _OPEN_PICTURES}
    return element("details", attributes, summary, *parts, note)


def _render_hunks(
    number: int, hunks: Sequence[DiffHunk], changes: Sequence[_Numbered]
) -> tuple[Html, list[_Numbered]]:
    """Return the hunks of a text, and the changes that no line of them is of."""
    waiting = {
        (change.kind == "removed", change.place.line): (index, change)
        for index, change in reversed(changes)
        if not isinstance(change.place.line, Unset)
    }
    total = len(waiting)
    drawn: list[Html] = []
    for hunk in hunks:
        # Past the last change that is drawn, lines would have none.
        if total and not waiting:
            break
        drawn.append(_render_hunk(number, hunk, waiting))
    left = {index for index, _ in waiting.values()}
    placed = {index for index, change in changes if not isinstance(change.place.line, Unset)}
    rest = [each for each in changes if each[0] in left or each[0] not in placed]
    return element("section", {"class": "group text"}, *drawn), rest


def _render_hunk(number: int, hunk: DiffHunk, waiting: dict[tuple[bool, int], _Numbered]) -> Html:
    """Return a hunk; the changes that its lines are of are taken from those that wait."""
    rows: list[Html] = []
    before, after = hunk.before_start, hunk.after_start
    label = (
        f"lines {before}–{before + hunk.before_count - 1} before, "
        f"{after}–{after + hunk.after_count - 1} after"
    )
    is_open = False
    makers: list[Html] = []
    run: list[Html] = []
    for line in hunk.lines:
        is_removed, is_added = line.kind == "removed", line.kind == "added"
        if not (is_removed or is_added) and is_open:
            rows += [*makers, *run]
            makers, run = [], []
        is_open = is_removed or is_added
        change = (
            waiting.pop((is_removed, before if is_removed else after), None) if is_open else None
        )
        if change is not None:
            makers += [each for each in _render_about(change[1]) if each not in makers]
        run.append(
            _render_line(
                number,
                line,
                "" if is_added else str(before),
                "" if is_removed else str(after),
                change,
            )
        )
        if not is_open:
            rows += run
            run = []
        before += not is_added
        after += not is_removed
    rows += [*makers, *run]
    columns = [element("col", {"class": name}) for name in ("number", "number", "sign", "line")]
    parts = [element("colgroup", {}, *columns), element("tbody", {}, *rows)]
    return element("table", {"class": "hunk", "aria-label": label}, *parts)


def _render_about(change: ContentChange) -> Iterator[Html]:
    """Yield rows above a run of changed lines: what must be known, and who made it."""
    notes: list[Html] = []
    if not isinstance(change.note, Unset) and change.note:
        notes.append(element("p", {"class": "remark"}, text(change.note)))
    if not isinstance(change.made_by, Unset):
        notes.append(render_maker(change.made_by))
    for each in notes:
        yield element("tr", {"class": "about"}, element("td", {"colspan": 4}, each))


def _render_line(
    number: int, line: DiffHunkLine, before: str, after: str, change: _Numbered | None
) -> Html:
    sign = {"removed": SIGNS["removed"], "added": SIGNS["added"]}.get(line.kind, "")
    word = f"{line.kind} " if sign else ""
    if not isinstance(line.words, Unset) and line.words:
        side = [(kind, piece) for kind, piece in line.words if kind in ("equal", line.kind)]
        words = render_words(_cut_words(side))
    else:
        words = text(_cut(line.text))
    attributes: dict[str, str | int] = {"class": line.kind}
    if change is not None:
        index, found = change
        attributes = {"class": f"{line.kind} change", **change_attributes(number, index, found)}
    return element(
        "tr",
        attributes,
        element("td", {"class": "number"}, text(before)),
        element("td", {"class": "number"}, text(after)),
        element(
            "td",
            {"class": "sign"},
            element("b", {"aria-hidden": "true"}, text(sign)),
            element("span", {"class": "unseen"}, text(word)),
        ),
        element("td", {"class": "line", "dir": "auto"}, words),
    )


def _cut(words: str) -> str:
    return words if len(words) <= MAX_LINE_CHARACTERS else words[:MAX_LINE_CHARACTERS] + "…"


def _cut_words(words: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    room = MAX_LINE_CHARACTERS
    words = [*words]
    if sum(len(piece) for _, piece in words) > room:
        # Cut at its end, a long line could lose what changed.
        words = excerpt(words, AROUND_CHARACTERS)
    for kind, piece in words:
        if room <= 0:
            found.append(("equal", "…"))
            break
        found.append((kind, piece[:room]))
        room -= len(piece)
    return found
