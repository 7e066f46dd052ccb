"""View of one change: what happened to what, both values, and who made it.

Nothing is told by color alone: each kind of change has a sign and its word, removed words are
struck through and added ones underlined.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kbd.core.audit.html.markup import Html, count, element, joined, size, text, visible
from kbd.lookalikes import excerpt, excerpts, mark_piece, tell_values_apart
from kbd.requests.base import Unset
from kbd.requests.reviews import ChangeMaker, ContentChange

__all__ = [
    "AROUND_CHARACTERS",
    "SIGNS",
    "change_attributes",
    "render_change",
    "render_changes",
    "render_maker",
    "render_sign",
    "render_value",
    "render_words",
    "value_text",
]

SIGNS: Mapping[str, str] = {"added": "+", "removed": "−", "changed": "~", "moved": "→"}
"""What stands for each kind of change."""

SHOWN_CHARACTERS = 1200
"""What is shown of a long text at once; the rest is a click away."""

MAX_CHARACTERS = 8000
"""What the page holds of one text."""

AROUND_CHARACTERS = 200
"""Of a text that is too long, what is shown before and after each changed word."""

MAX_ITEMS = 40
"""Values of a row that are shown, and members of an object."""

_STAMPS = ("date", "datetime", "time", "duration", "error")


def render_sign(kind: str) -> Html:
    """Return the sign of a kind of change, with its word for those who do not see it."""
    sign = element("b", {"class": "sign", "aria-hidden": "true"}, text(SIGNS[kind]))
    return joined((sign, element("span", {"class": "unseen"}, text(f"{kind} "))))


def change_attributes(file: int, index: int, change: ContentChange) -> dict[str, str | int]:
    """Return the attributes by which a change is found, filtered and walked to."""
    return {"id": f"f{file}c{index}", "data-kind": change.kind, "data-change": index, "tabindex": 0}


def render_changes(
    file: int, changes: Sequence[tuple[int, ContentChange]], label: str = ""
) -> Html:
    """Return a list of changes, each with its index in the comparison.

    Args:
        file: The file's place in the page.
        changes: The changes.
        label: What the list is of, for those who do not see it.
    """
    items = (render_change(file, index, change) for index, change in changes)
    attributes = {"class": "changes", "aria-label": label or None}
    return element("ul", attributes, *items) if changes else Html("")


def render_change(file: int, index: int, change: ContentChange) -> Html:
    """Return one change in full."""
    attributes = {"class": f"change {change.kind}", **change_attributes(file, index, change)}
    return element("li", attributes, _render_head(change), *_render_body(change))


def _render_head(change: ContentChange) -> Html:
    title = element("span", {"class": "place", "dir": "auto"}, text(change.place.title))
    parts = [
        render_sign(change.kind),
        element("span", {"class": "what"}, text(change.what)),
        title,
    ]
    if not isinstance(change.moved_from, Unset):
        came = element("span", {"dir": "auto"}, text(change.moved_from.title))
        parts.append(element("span", {"class": "from"}, text("from "), came))
    return element("p", {"class": "head"}, *parts)


def _render_body(change: ContentChange) -> list[Html]:
    parts: list[Html] = []
    if not isinstance(change.words, Unset) and change.words:
        parts.append(element("p", {"class": "words", "dir": "auto"}, render_words(change.words)))
    else:
        parts.append(_render_values(change))
    if not isinstance(change.details, Unset) and change.details:
        parts.append(_render_details(change.details))
    if not isinstance(change.note, Unset) and change.note:
        parts.append(element("p", {"class": "remark"}, text(change.note)))
    if change.is_cut is True:
        parts.append(element("p", {"class": "note"}, text("Too long to be shown whole.")))
    if not isinstance(change.made_by, Unset):
        parts.append(render_maker(change.made_by))
    return parts


def _render_values(change: ContentChange) -> Html:
    """Return both values of a change, of those that it has."""
    has_before, has_after = _is_given(change, "before"), _is_given(change, "after")
    sides: list[Html] = []
    before, after = _tell_apart(change.before, change.after)
    if has_before and change.kind != "added":
        sides.append(_render_side("before", "was", before))
    if has_after and change.kind != "removed":
        sides.append(_render_side("after", "is" if sides else "", after))
    return element("div", {"class": "values"}, *sides) if sides else Html("")


def _tell_apart(before: Any, after: Any) -> tuple[Any, Any]:
    """Return both sides as texts if they would look the same, or are texts; else as they are."""
    both = (before, after)
    if Unset in map(type, both) or before == after:
        return both
    if not all(isinstance(each, str) for each in both) and value_text(before) != value_text(after):
        return both
    old, new = tell_values_apart(before, after, value_text)
    if max(len(old), len(new)) > SHOWN_CHARACTERS:
        old, new = excerpts(old, new, AROUND_CHARACTERS)
    return old, new


def _is_given(change: ContentChange, side: str) -> bool:
    value = change.before if side == "before" else change.after
    if isinstance(value, Unset):
        return False
    # Nothing on both sides says nothing: the details have what changed.
    other = change.after if side == "before" else change.before
    return value is not None or not (other is None or isinstance(other, Unset))


def _render_side(side: str, word: str, value: Any) -> Html:
    tag = "del" if side == "before" else "ins"
    label = element("span", {"class": "side"}, text(word)) if word else Html("")
    return element("div", {"class": side}, label, element(tag, {}, render_value(value)))


def render_words(words: Sequence[tuple[str, str]]) -> Html:
    """Return a changed text as one: what was removed struck through, what was added underlined."""
    tags = {"removed": "del", "added": "ins"}
    parts: list[Html] = []
    room = MAX_CHARACTERS
    if sum(len(piece) for _, piece in words) > room:
        # Cut at its end, a long text could lose what changed.
        words = excerpt(words, AROUND_CHARACTERS)
    for kind, piece in words:
        marked = mark_piece(piece) if kind in tags else piece
        shown = marked[:room]
        room -= len(shown)
        parts.append(element(tags[kind], {}, text(shown)) if kind in tags else text(shown))
        if len(shown) < len(marked):
            parts.append(element("span", {"class": "note"}, text(" … cut here")))
            break
    return joined(parts)


def _render_details(details: Mapping[str, tuple[Any, Any]]) -> Html:
    """Return what else differs, one line each: "bold: no -> yes"."""
    rows: list[Html] = []
    for name, (before, after) in list(details.items())[:MAX_ITEMS]:
        title = element("th", {"scope": "row"}, text(name.replace("_", " ")))
        before, after = _tell_apart(before, after)
        was = element("td", {}, element("del", {}, text(_detail_text(before))))
        arrow = element("td", {"aria-hidden": "true"}, text("→"))
        now = element("td", {}, element("ins", {}, text(_detail_text(after))))
        rows.append(element("tr", {}, title, was, arrow, now))
    if len(details) > MAX_ITEMS:
        more = text(f"and {count(len(details) - MAX_ITEMS)} more")
        rows.append(element("tr", {}, element("td", {"colspan": 4}, more)))
    return element("table", {"class": "details"}, element("tbody", {}, *rows))


def _detail_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _short(value_text(value)) or "none"


def _short(words: str) -> str:
    return words if len(words) <= SHOWN_CHARACTERS else words[:SHOWN_CHARACTERS] + "…"


def value_text(value: Any) -> str:
    """Return a value on one line, as a cell shows it; "" for none."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case {"formula": formula}:
            result = value_text(value.get("value"))
            return result or str(formula)
        case dict() if len(value) == 1 and (name := next(iter(value))) in _STAMPS:
            return value_text(value[name])
        case list() | tuple():
            return ", ".join(map(value_text, value))
        case dict():
            return msgspec.json.encode(value).decode()
        case _:
            return str(value)


def render_value(value: Any) -> Html:
    """Return a value as it is shown in full: a text, a row of values, a formula, an object."""
    match value:
        case None | "":
            words = "empty" if value is None else "empty text"
            return element("span", {"class": "empty"}, text(words))
        case {"formula": formula}:
            return _render_formula(str(formula), value)
        case list() | tuple():
            return _render_row(value)
        case dict() if not (len(value) == 1 and next(iter(value)) in _STAMPS):
            return _render_object(value)
        case _:
            return _render_text(value_text(value))


def _render_text(words: str) -> Html:
    shown = words[:MAX_CHARACTERS]
    begun, rest = shown, ""
    if len(shown) > SHOWN_CHARACTERS * 1.3:
        begun, rest = shown[:SHOWN_CHARACTERS], shown[SHOWN_CHARACTERS:]
    parts = [element("span", {"class": "text", "dir": "auto"}, text(begun))]
    if rest:
        summary = element("summary", {}, text(f"{count(len(rest), 'more character')}"))
        more = element("span", {"class": "text", "dir": "auto"}, text(rest))
        parts.append(element("details", {"class": "rest"}, summary, more))
    if len(shown) < len(words):
        parts.append(element("span", {"class": "note"}, text("cut here")))
    return joined(parts)


def _render_formula(formula: str, value: Mapping[str, Any]) -> Html:
    result = value_text(value.get("value"))
    parts = [element("code", {"class": "text"}, text(_short(formula)))]
    if result:
        parts.append(element("span", {"class": "result"}, text(" = "), text(_short(result))))
    if value.get("current") is False:
        parts.append(element("span", {"class": "note"}, text(" (calculated when it is opened)")))
    return joined(parts)


def _render_row(values: Sequence[Any]) -> Html:
    cells = [
        element("li", {"dir": "auto"}, text(_short(value_text(each))))
        if value_text(each)
        else element("li", {"class": "empty"}, element("span", {"class": "unseen"}, text("empty")))
        for each in values[:MAX_ITEMS]
    ]
    if len(values) > MAX_ITEMS:
        cells.append(element("li", {}, text(f"and {count(len(values) - MAX_ITEMS)} more")))
    return element("ol", {"class": "cells"}, *cells)


def _render_object(value: Mapping[Any, Any]) -> Html:
    parts: list[Html] = []
    for name, member in list(value.items())[:MAX_ITEMS]:
        title, shown = visible(str(name)).replace("_", " "), _short(value_text(member))
        if name == "size_bytes" and isinstance(member, int):
            title, shown = "size", size(member)
        content = element("code", {}, text(shown)) if name == "sha256" else text(shown)
        parts.append(element("div", {}, element("dt", {}, text(title)), element("dd", {}, content)))
    return element("dl", {"class": "object"}, *parts)


def render_maker(maker: ChangeMaker) -> Html:
    """Return who made a change: the tool, the run and its item with its words, the event."""
    who: list[Html] = []
    if not isinstance(maker.run_id, Unset):
        item = "" if isinstance(maker.item, Unset) else f", item {maker.item}"
        who.append(text(f"run {maker.run_id.rpartition('-')[2]}{item}"))
    else:
        who.append(text("a client"))
    if maker.tool:
        who.append(joined((text("with "), element("code", {}, text(maker.tool)))))
    who.append(text(f"event {maker.seq}"))
    parts = [element("span", {"class": "by"}, text("made by "), joined(_with_dots(who)))]
    if not isinstance(maker.reason, Unset) and maker.reason:
        reason = element("q", {"dir": "auto"}, text(_short(maker.reason)))
        parts.append(element("span", {"class": "reason"}, reason))
    return element("p", {"class": "maker"}, *parts)


def _with_dots(parts: Sequence[Html]) -> list[Html]:
    found: list[Html] = []
    for place, part in enumerate(parts):
        if place:
            found.append(text(" · "))
        found.append(part)
    return found
