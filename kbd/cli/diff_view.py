"""Text of a comparison for a terminal: lines of styled segments, made from what the daemon answers.

Nothing here knows a format: a change has a place, what it was and what it is now. A line is never
wider than it may be, so that a pager shows it whole; marks at its beginning say without color what
was added, removed, changed or moved.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from kbd.cli.terminal import cell_width, clean, counted, line, size, truncate, wrap
from kbd.lookalikes import excerpt, excerpts, mark_hidden, mark_piece, tell_values_apart

__all__ = ["Line", "Segment", "Style", "render_counts", "render_diff", "render_value"]

Style = Literal[
    "", "bold", "dim", "added", "removed", "moved", "added word", "removed word", "warning"
]
"""What a segment is; `pager` knows how each is drawn."""

Segment = tuple[Style, str]

Line = tuple[Segment, ...]

_MARKS: Mapping[str, tuple[Style, str]] = {
    "added": ("added", "+"),
    "removed": ("removed", "-"),
    "changed": ("", "~"),
    "moved": ("moved", ">"),
}

EXCERPT_CHARACTERS = 60
"""Of a long text, what is shown before and after each changed word."""

MAX_DETAIL = 1500
"""Characters of a detail on one line; a longer one has a line for each side."""

MAX_LINES_OF_TEXT = 12
"""Lines of one text that was added or removed."""

RUN_LENGTH = 8
"""Changes of the same kind and thing in a row that an excerpt shows, before it counts the rest."""


def render_counts(diff: Mapping[str, Any]) -> str:
    """Return how many changes there are of each thing: "3 cells changed, 1 row added"."""
    parts = [f"{_counted(each['count'], each['what'])} {each['kind']}" for each in diff["counts"]]
    return ", ".join(parts) if parts else "no change inside"


def _counted(count: int, what: str) -> str:
    noun = line(what)
    if count != 1 and noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{count:,} {noun[:-1]}ies"
    if noun.endswith("s"):
        return f"{count:,} {noun}"
    return (
        f"{count:,} {noun}"
        if count == 1
        else counted(count, noun).replace(str(count), f"{count:,}")
    )


def render_diff(diff: Mapping[str, Any], width: int, *, is_excerpt: bool = False) -> Iterator[Line]:
    """Yield the lines of one file's comparison.

    Args:
        diff: The answer of a comparison, with all changes that are to be shown.
        width: The columns of a line.
        is_excerpt: Whether long runs of like changes are cut short.
    """
    for warning in (*([diff["reference_warning"]] if diff.get("reference_warning") else ()),
                    *diff["warnings"]):  # fmt: skip
        yield from _wrapped("warning", f"! {warning}", width, "  ")
    maker = _common_maker(diff["changes"])
    if maker:
        yield from _wrapped("dim", maker, width, "  ")
    hunks = diff.get("hunks")
    for hunk in hunks or ():
        yield from _render_hunk(hunk, width)
    changes = [
        change for change in diff["changes"] if hunks is None or "line" not in change["place"]
    ]
    shown = 0
    for run in _runs(changes):
        cut = run[:RUN_LENGTH] if is_excerpt and len(run) > RUN_LENGTH + 1 else run
        for change in cut:
            yield from _render_change(change, width, names_maker=not maker)
        shown += len(run)
        if len(cut) < len(run):
            count, noun = _counted(len(run) - len(cut), run[0]["what"]).split(" ", 1)
            yield (("dim", f"    … {count} more {noun} {run[0]['kind']}"),)
    left = diff["total"] - len(diff["changes"])
    if left > 0:
        yield (("dim", f"    … {left:,} more changes"),)


def _runs(changes: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Yield neighbors of the same kind and thing."""
    run: list[Mapping[str, Any]] = []
    for change in changes:
        if run and (run[-1]["kind"], run[-1]["what"]) != (change["kind"], change["what"]):
            yield run
            run = []
        run.append(change)
    if run:
        yield run


def _common_maker(changes: Sequence[Mapping[str, Any]]) -> str:
    """Return who made all changes, if it is one and the same."""
    makers = {_render_maker(change.get("made_by")) for change in changes}
    return makers.pop() if len(makers) == 1 else ""


def _render_maker(maker: Mapping[str, Any] | None) -> str:
    if not maker:
        return ""
    who = f"run {str(maker['run_id']).rpartition('-')[2]}" if "run_id" in maker else "a client"
    item = f", item {maker['item']}" if "item" in maker else ""
    return f"by {who}{item}, {line(str(maker['tool']))}"


def _render_change(change: Mapping[str, Any], width: int, *, names_maker: bool) -> Iterator[Line]:
    style, mark = _MARKS[change["kind"]]
    title = line(str(change["place"]["title"]), 2000)
    # What tells two places apart may stand at the end of a long title: it goes on below.
    title, *more = wrap(title, max(width - 6, 10))
    what = line(str(change["what"]))
    head: list[Segment] = [(style, f"  {mark} "), ("bold", title)]
    if what not in {"cell", "paragraph", "row", "line", "text"} and what not in title.lower():
        head.append(("dim", f"  {what}"))
    tail: list[Segment] = []
    maker = _render_maker(change.get("made_by")) if names_maker else ""
    if maker:
        tail.append(("dim", f"   {maker}"))
    body = list(_render_body(change, width))
    # What fits stands beside its place: a column of figures is read at a glance.
    if not more and len(body) == 1 and _width((*head, ("", "  "), *body[0], *tail)) <= width:
        yield (*head, ("", "  "), *_flush(body[0]), *tail)
    else:
        if more:
            yield tuple(head[:2])
            yield from ((("bold", f"    {each}"),) for each in more)
        else:
            yield (*head, *tail) if _width((*head, *tail)) <= width else tuple(head[:2])
        yield from body
    if change.get("note"):
        yield from _wrapped("dim", str(change["note"]), width, "      ")


def _flush(body: Line) -> Line:
    """Return a line of the body without its indentation, and without its mark if it has one."""
    (style, first), *rest = body
    text = first.lstrip()
    return ((style, text[2:] if style in ("added", "removed") else text), *rest)


def _width(segments: Sequence[Segment]) -> int:
    return sum(cell_width(clean(text)) for _, text in segments)


def _render_body(change: Mapping[str, Any], width: int) -> Iterator[Line]:
    """Yield what a change was and is, and what else differs."""
    if change.get("moved_from"):
        yield (("", "      from "), ("bold", line(str(change["moved_from"]["title"]), width - 12)))
    before, after = change.get("before"), change.get("after")
    if change.get("words"):
        yield from _render_words(change["words"], width)
    elif before != after and not _is_told_by_details(change):
        yield from _render_sides(change["kind"], before, after, width)
    for name, (old, new) in (change.get("details") or {}).items():
        was, now = tell_values_apart(old, new, render_value)
        title = line(str(name))
        if len(title) + len(was) + len(now) <= MAX_DETAIL:
            yield from _wrapped("", f"{title}: {was} -> {now}", width, "      ")
        else:
            yield from _wrapped("", f"{title}:", width, "      ")
            yield from _render_sides("changed", old, new, width)


def _is_told_by_details(change: Mapping[str, Any]) -> bool:
    """Tell whether the details name all that differs between two objects, such as charts."""
    match change.get("before"), change.get("after"):
        case dict() as before, dict() as after:
            named = change.get("details") or {}
            keys = before.keys() | after.keys()
            return all(key in named for key in keys if before.get(key) != after.get(key))
    return False


def _render_sides(kind: str, before: Any, after: Any, width: int) -> Iterator[Line]:
    old, new = tell_values_apart(before, after, render_value)
    if kind == "changed":
        both = f"      {old} -> {new}"
        if "\n" not in both and cell_width(clean(both)) <= width:
            yield (("", "      "), ("removed", old), ("", " -> "), ("added", new))
            return
    if kind == "added" or (kind == "changed" and before is None):
        yield from _text_lines("added", "+", new, width)
    elif kind == "removed" or after is None:
        yield from _text_lines("removed", "-", old, width)
    else:
        if kind == "changed" and max(len(old), len(new)) > width * MAX_LINES_OF_TEXT // 2:
            old, new = excerpts(old, new, EXCERPT_CHARACTERS)
        yield from _text_lines("removed", "-", old, width)
        yield from _text_lines("added", "+", new, width)


def _text_lines(style: Style, mark: str, text: str, width: int) -> Iterator[Line]:
    lines = wrap(text, width - 8)
    for one in lines[:MAX_LINES_OF_TEXT]:
        yield ((style, f"      {mark} {one}"),)
    if len(lines) > MAX_LINES_OF_TEXT:
        yield (("dim", f"        … {len(lines) - MAX_LINES_OF_TEXT} more lines"),)


def render_value(value: Any) -> str:
    """Return a value as people write it; an empty one is said."""
    match value:
        case None | "":
            return "(empty)"
        case bool():
            return "TRUE" if value else "FALSE"
        case list() | tuple():
            return " | ".join("" if each is None else render_value(each) for each in value)
        case {"formula": formula, **rest}:
            stored = rest.get("value")
            # A result may be an empty text; None is one only where the format says no more.
            if not rest.get("current", stored is not None):
                return f"{formula} (not calculated)"
            return f"{formula} ({'empty' if stored in (None, '') else render_value(stored)})"
        case {"size_bytes": int() as count, "sha256": str() as digest}:
            return f"{size(count)}, SHA-256 {digest[:12]}…"
        case {"date": text} | {"datetime": text} | {"time": text} | {"duration": text}:
            return str(text)
        case {"error": text}:
            return str(text)
        case dict():
            return ", ".join(f"{name}: {render_value(each)}" for name, each in value.items())
        case str():
            # Blanks at an end are seen only between marks.
            return value if value == value.strip() else f"“{value}”"
        case _:
            return str(value)


def _render_words(words: Sequence[Sequence[str]], width: int) -> Iterator[Line]:
    """Yield the text before and the text after, what differs marked and the rest cut short."""
    for side, mark in (("removed", "-"), ("added", "+")):
        segments = [(kind, text) for kind, text in words if kind in ("equal", side)]
        if not "".join(text for _, text in segments):
            yield ((_side(side), f"      {mark} (empty)"),)
            continue
        shown = _marked(excerpt(segments, EXCERPT_CHARACTERS))
        yield from _word_lines(shown, _side(side), mark, width)


def _marked(segments: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pieces of a text so that those that changed are seen."""
    return [
        (kind, mark_hidden(text) if kind == "equal" else mark_piece(text))
        for kind, text in segments
    ]


def _side(side: str) -> Style:
    return "removed" if side == "removed" else "added"


def _word_lines(
    segments: Sequence[tuple[str, str]], style: Style, mark: str, width: int
) -> Iterator[Line]:
    """Yield a text in lines that fit, each piece in its style."""
    word_style: Style = "removed word" if style == "removed" else "added word"
    room = max(width - 8, 10)
    current: list[Segment] = [(style, f"      {mark} ")]
    used = 0
    for kind, text in segments:
        piece_style = style if kind == "equal" else word_style
        for piece in _pieces(clean(text).replace("\n", "⏎ ").replace("\t", "→ "), room):
            taken = cell_width(piece)
            if used + taken > room and used:
                yield tuple(current)
                current, used = [(style, "        ")], 0
            current.append((piece_style, piece))
            used += taken
    yield tuple(current)


def _pieces(text: str, room: int) -> Iterator[str]:
    """Yield words with the blanks after them; one that is too long in parts."""
    start = 0
    while start < len(text):
        end = text.find(" ", start)
        end = len(text) if end < 0 else end + 1
        word = text[start:end]
        while cell_width(word) > room:
            yield word[: room // 2]
            word = word[room // 2 :]
        yield word
        start = end


def _render_hunk(hunk: Mapping[str, Any], width: int) -> Iterator[Line]:
    """Yield a hunk as `git diff` shows it, with the numbers of its lines."""
    old, new = hunk["before_start"], hunk["after_start"]
    digits = len(str(max(old + hunk["before_count"], new + hunk["after_count"])))
    yield (("moved", f"  @@ -{old},{hunk['before_count']} +{new},{hunk['after_count']} @@"),)
    for each in hunk["lines"]:
        kind = each["kind"]
        number = old if kind == "removed" else new
        style: Style = "" if kind == "context" else _side(kind)
        mark = {"context": " ", "removed": "-", "added": "+"}[kind]
        head = f"  {number:>{digits}} {mark} "
        if each.get("words"):
            word_style: Style = "removed word" if kind == "removed" else "added word"
            words = [(part, text) for part, text in each["words"] if part in ("equal", kind)]
            if sum(len(text) for _, text in words) > width * MAX_LINES_OF_TEXT // 2:
                words = excerpt(words, EXCERPT_CHARACTERS)
            segments: list[Segment] = [
                (style if part == "equal" else word_style, clean(text).replace("\t", "    "))
                for part, text in _marked(words)
            ]
            yield from _hunk_line(head, style, segments, width)
        else:
            text = clean(mark_hidden(str(each["text"]))).replace("\t", "    ")
            yield from _hunk_line(head, style, [(style, text)], width)
        old += kind != "added"
        new += kind != "removed"


def _hunk_line(head: str, style: Style, segments: Sequence[Segment], width: int) -> Iterator[Line]:
    """Yield a line of a hunk, cut where it is too wide for three lines of the terminal."""
    room = max(width - len(head), 10)
    current: list[Segment] = [(style, head)]
    used = lines = 0
    for piece_style, text in segments:
        for piece in _pieces(text, room):
            taken = cell_width(piece)
            if used + taken > room and used:
                yield tuple(current)
                lines += 1
                if lines == MAX_LINES_OF_TEXT:
                    yield (("dim", " " * len(head) + "…"),)
                    return
                current, used = [(style, " " * len(head))], 0
            current.append((piece_style, piece))
            used += taken
    yield tuple(current)


def _wrapped(style: Style, text: str, width: int, indent: str) -> Iterator[Line]:
    for one in wrap(line(text, 2000), max(width - len(indent), 20)):
        yield ((style, indent + truncate(one, max(width - len(indent), 20))),)
