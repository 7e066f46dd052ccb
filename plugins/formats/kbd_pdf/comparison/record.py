"""Changes of what belongs to the whole file: properties, outline, form fields, attachments."""

from collections.abc import Mapping
from typing import Any

from kbd.formats import Change, ChangeKind, ChangeList, Place
from kbd_pdf.comparison.pages import ItemPair, PageMatches, pair_lines
from kbd_pdf.comparison.version import PdfVersion

__all__ = ["compare_records", "pair_outlines", "record_places"]


def _place(what: str, name: str | int) -> Place:
    return Place(f"{what} {name}", part=f"{what} {name}")


def compare_records(
    before: PdfVersion, after: PdfVersion, matches: PageMatches, changes: ChangeList
) -> None:
    """Add what differs in two files beside their pages."""
    _compare_values(before.properties(), after.properties(), "property", changes)
    _compare_outlines(before, after, matches, changes)
    _compare_values(before.fields(), after.fields(), "field", changes)
    for what in ("attachment", "action"):
        _compare_values(_held(before, what), _held(after, what), what, changes)
    _compare_counts(before, after, changes)


def _held(version: PdfVersion, what: str) -> dict[str, Any]:
    """Return attachments or actions by name, with what is in them."""
    objects = version.objects()
    if what == "attachment":
        return objects.files
    scripts = {"scripts": objects.scripts} if objects.scripts else {}
    return dict.fromkeys(version.structure().actions.warnings(), what) | scripts


def _compare_values(
    old: Mapping[str, Any], new: Mapping[str, Any], what: str, changes: ChangeList
) -> None:
    for name in {**old, **new}:
        was, now = old.get(name), new.get(name)
        if was == now and (name in old) == (name in new):
            continue
        kind: ChangeKind = "changed"
        if name not in old or name not in new:
            kind = "added" if name in new else "removed"
        changes.add(Change(_place(what, name), kind, what, before=was, after=now))


def pair_outlines(before: PdfVersion, after: PdfVersion) -> list[ItemPair]:
    """Pair the entries of two tables of contents."""
    texts = [
        [f"{level} {title}" for title, level, _ in version.outline()] for version in (before, after)
    ]
    return pair_lines(texts[0], texts[1])


def _compare_outlines(
    before: PdfVersion, after: PdfVersion, matches: PageMatches, changes: ChangeList
) -> None:
    old, new = before.outline(), after.outline()
    if old == new:
        return
    pages = matches.after
    for i, j in pair_outlines(before, after):
        if i is None and j is not None:
            place = _place("outline entry", j + 1)
            changes.add(Change(place, "added", "outline entry", after=new[j][0]))
        elif j is None and i is not None:
            place = _place("outline entry", i + 1)
            changes.add(Change(place, "removed", "outline entry", before=old[i][0]))
        elif i is not None and j is not None:
            place = _place("outline entry", j + 1)
            details: dict[str, tuple[Any, Any]] = {}
            if old[i][1] != new[j][1]:
                details["level"] = (old[i][1], new[j][1])
            was, now = old[i][2], new[j][2]
            # An entry that follows its page to another number leads where it did.
            there = None if was is None else pages.get(was - 1, -1) + 1
            if there != now:
                details["page"] = (was, now)
            titles = old[i][0], new[j][0]
            if details or titles[0] != titles[1]:
                texts = titles if titles[0] != titles[1] else (None, None)
                changes.add(Change(
                    place, "changed", "outline entry", before=texts[0], after=texts[1],
                    details=details,
                ))  # fmt: skip


def _compare_counts(before: PdfVersion, after: PdfVersion, changes: ChangeList) -> None:
    """Add how many annotations there are of each kind, where that differs."""
    old, new = before.structure().annotations, after.structure().annotations
    details = {
        kind: (old[kind], new[kind]) for kind in sorted({*old, *new}) if old[kind] != new[kind]
    }
    if details:
        place = Place("annotations", part="annotations")
        changes.add(Change(place, "changed", "annotation", details=details))


def record_places(version: PdfVersion) -> list[Place]:
    """Return the places of a file that are on no page."""
    return [
        *(_place("property", name) for name in version.properties()),
        *(_place("outline entry", at + 1) for at in range(len(version.outline()))),
        *(_place("field", name) for name in version.fields()),
        *(_place(what, name) for what in ("attachment", "action") for name in _held(version, what)),
        Place("annotations", part="annotations"),
    ]
