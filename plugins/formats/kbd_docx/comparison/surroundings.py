"""What stands around the body: headers, footers, notes and comments of two versions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kbd.formats import Change, ChangeList
from kbd_docx.comparison.contents import ParagraphContent
from kbd_docx.comparison.definitions import match_pages
from kbd_docx.comparison.differences import ParagraphDifferences, joined
from kbd_docx.comparison.digests import new_hash
from kbd_docx.comparison.matches import BlockMatches, MatchSide, listed_side, match_items
from kbd_docx.comparison.places import part_place
from kbd_docx.comparison.version import DocxVersion, Note, word_count
from kbd_docx.reader.builder import HeaderFooterReferences

__all__ = [
    "NOTE_KINDS",
    "HeaderFooterContent",
    "compare_headers_footers",
    "compare_notes",
    "header_pairs",
    "match_notes",
    "read_headers",
]

_SHOWN_CHARS = 80
NOTE_KINDS = ("footnote", "endnote", "comment")


class HeaderFooterContent(msgspec.Struct, frozen=True):
    """A header or footer.

    Args:
        kind: "header" or "footer".
        number: Its number among those of its kind, from 1, in the order of the pages.
        type: On which pages it is: "default", "first" or "even".
        page_section: The index of the stretch of pages that it begins with.
        part: Its part.
        paragraphs: What it holds.
        frame: The digest of what holds them: tables, content controls.
    """

    kind: str
    number: int
    type: str
    page_section: int
    part: str
    paragraphs: tuple[ParagraphContent, ...]
    frame: bytes

    @property
    def title(self) -> str:
        """What people call it."""
        return f"{self.kind} {self.number}"


def read_headers(version: DocxVersion) -> list[HeaderFooterContent]:
    """Return the headers and footers of a version, each part once a type."""
    relations = version.parts.relations(version.main)
    found: list[HeaderFooterContent] = []
    seen: set[tuple[str, str]] = set()
    counts = {"header": 0, "footer": 0}
    for index, section in enumerate(version.body.sections):
        for kind, type_, key in HeaderFooterReferences(section.element).named:
            relation = relations.get(key)
            if relation is None or relation.external or relation.target not in version.package:
                continue
            if (relation.target, type_) in seen:
                continue
            seen.add((relation.target, type_))
            counts[kind] += 1
            version.parts.reached.add(relation.target)
            root = version.document.root(relation.target)
            paragraphs = tuple(version.reader(relation.target).paragraphs(root))
            found.append(
                HeaderFooterContent(
                    kind, counts[kind], type_, index, relation.target, paragraphs,
                    version.frame(root, relation.target),
                )
            )  # fmt: skip
    return found


def compare_headers_footers(
    before: DocxVersion, after: DocxVersion, differences: ParagraphDifferences, out: ChangeList
) -> None:
    """Add what differs between the headers and footers of two versions."""
    same: dict[str, str] = {}
    for old, new, found in _matched_headers(before, after):
        same |= {old[i].part: new[j].part for i, j in found.forward.items()}
        for event in found.events:
            if event.kind == "removed":
                gone = old[event.before]
                text = joined(gone.paragraphs).shown
                out.add(Change(part_place(gone.title), "removed", gone.kind, before=text))
            elif event.kind == "added":
                come = new[event.after]
                text = joined(come.paragraphs).shown
                out.add(Change(part_place(come.title), "added", come.kind, after=text))
            else:
                one, other = old[event.before], new[event.after]
                details = frame_difference(one.frame, other.frame)
                place = part_place(other.title)
                differences.add_story(
                    one.paragraphs, other.paragraphs, place, other.kind, details=details
                )
    _compare_references(before, after, same, out)


def _compare_references(
    before: DocxVersion, after: DocxVersion, same: Mapping[str, str], out: ChangeList
) -> None:
    """Add which stretches of pages have another header than before, of those that are in both."""
    there = set(same.values())
    for i, j in match_pages(before, after).forward.items():
        old, new = _references(before, i), _references(after, j)
        details = {}
        for key in sorted({*old, *new}):
            was, now = same.get(old.get(key, "")), new.get(key)
            # One that came or went is told by itself.
            if was != now and (key not in old or was) and (now is None or now in there):
                details[" ".join(key)] = (old.get(key), now)
        if details:
            place = part_place(f"page section {j + 1}")
            out.add(Change(place, "changed", "section", details=details))


def _references(version: DocxVersion, section: int) -> dict[tuple[str, str], str]:
    """Return the parts of the headers and footers of a stretch of pages by kind and type."""
    relations = version.parts.relations(version.main)
    named = HeaderFooterReferences(version.body.sections[section].element).named
    return {(kind, type_): relations[key].target for kind, type_, key in named if key in relations}


def frame_difference(before: bytes, after: bytes) -> dict[str, tuple[Any, Any]]:
    """Return that what holds the paragraphs differs, as details of a change; else nothing."""
    return {} if before == after else {"tables_and_controls": (before.hex(), after.hex())}


def header_pairs(before: DocxVersion, after: DocxVersion) -> Iterator[tuple[str, str]]:
    """Yield the titles of headers and footers that are in both versions, before and after."""
    for old, new, found in _matched_headers(before, after):
        for i, j in found.forward.items():
            yield old[i].title, new[j].title


def _matched_headers(
    before: DocxVersion, after: DocxVersion
) -> Iterator[tuple[list[HeaderFooterContent], list[HeaderFooterContent], BlockMatches]]:
    """Yield the headers and footers by kind and type, with which of them are the same."""
    old_all, new_all = read_headers(before), read_headers(after)
    for kind in ("header", "footer"):
        for type_ in ("default", "first", "even"):
            old = [each for each in old_all if (each.kind, each.type) == (kind, type_)]
            new = [each for each in new_all if (each.kind, each.type) == (kind, type_)]
            yield old, new, match_items(_header_side(old), _header_side(new), fills_gaps=True)


def _story_key(paragraphs: Sequence[ParagraphContent]) -> bytes:
    return new_hash(b"".join(each.key for each in paragraphs)).digest()


def _header_side(headers: Sequence[HeaderFooterContent]) -> MatchSide:
    return listed_side(
        [(_story_key(each.paragraphs), each.frame) for each in headers],
        [word_count(joined(each.paragraphs).shown) for each in headers],
    )


def match_notes(old: Sequence[Note], new: Sequence[Note]) -> BlockMatches:
    """Return which notes or comments of two versions are the same."""
    return match_items(_note_side(old), _note_side(new))


def compare_notes(
    before: DocxVersion, after: DocxVersion, differences: ParagraphDifferences, out: ChangeList
) -> None:
    """Add what differs between the notes and comments of two versions."""
    for kind in NOTE_KINDS:
        lines = before.separators(kind), after.separators(kind)
        # A program adds its own with the first note.
        for type_ in sorted(lines[0].keys() & lines[1].keys()):
            if lines[0][type_] != lines[1][type_]:
                place = part_place(f"{kind} {type_}")
                said = "the line above the notes is made otherwise"
                out.add(Change(place, "changed", "format", note=said))
        old, new = before.notes(kind), after.notes(kind)
        what = "comment" if kind == "comment" else "note"
        for event in match_notes(old, new).events:
            if event.kind == "removed":
                note = old[event.before]
                place = part_place(note.title)
                out.add(Change(place, "removed", what, before=note.text, note=_byline(note)))
            elif event.kind == "added":
                note = new[event.after]
                place = part_place(note.title)
                out.add(Change(place, "added", what, after=note.text, note=_byline(note)))
            else:
                _compare_pair(old[event.before], new[event.after], what, event.kind, differences)


def _compare_pair(
    old: Note, new: Note, what: str, kind: str, differences: ParagraphDifferences
) -> None:
    details = {
        name: pair
        for name, pair in (
            ("author", (old.author, new.author)),
            ("date", (old.date, new.date)),
            ("resolved", (old.is_resolved, new.is_resolved)),
            ("reply_to", (old.reply_to, new.reply_to)),
        )
        if pair[0] != pair[1]
    } | frame_difference(old.frame, new.frame)
    differences.add_story(
        old.paragraphs,
        new.paragraphs,
        part_place(new.title),
        what,
        moved_from=part_place(old.title) if kind == "moved" else None,
        details=details,
    )


def _byline(note: Note) -> str:
    more = (
        f"by {note.author}" if note.author else "",
        f'a reply to "{note.reply_to[:_SHOWN_CHARS]}"' if note.reply_to else "",
        "resolved" if note.is_resolved else "",
    )
    return ", ".join(filter(None, more))


def _note_side(notes: Sequence[Note]) -> MatchSide:
    return listed_side(
        [
            (
                _story_key(each.paragraphs),
                each.author,
                each.date,
                each.frame,
                each.is_resolved,
                each.reply_to,
            )
            for each in notes
        ],
        [word_count(each.text) for each in notes],
        move_keys=[each.text or None for each in notes],
    )
