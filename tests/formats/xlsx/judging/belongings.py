"""Compares the parts that a workbook leads to: drawings, charts, media, pivots, macros, all.

A part is known by the kinds of relations on the way to it ("worksheet Sheet1", "drawing", "chart"),
not by its name: a library may rename parts. Of the parts on the same way, equal ones are paired
first, the others in their order.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cached_property

from lxml import etree

from judging.book import Book
from judging.cells import Value, shared_strings
from judging.contents import plain
from judging.differences import Difference
from judging.package import Element, children, local
from judging.point_copies import COPIED, wrong_points
from judging.substance import lost, substance

__all__ = ["compare_belongings"]

Way = tuple[str, ...]

_ELSEWHERE = ("sharedStrings", "styles", "worksheet", "table", "comments", "officeDocument")
"""Kinds of parts that are compared by what they mean."""

IMMATERIAL = (
    "calcChain", "core-properties", "extended-properties", "printerSettings", "thumbnail",
    "webSettings", "attachedToolbars", "volatileDependencies",
)  # fmt: skip
"""Kinds of parts that programs make anew."""

_IMMATERIAL_LINES = re.compile(
    r"cNvPr@(id|name)=|xfrm/(off|ext)$|clientData|cNvGraphicFramePr|graphicFrameLocks|@macro=|uniqueId|creationId"
    r"|chartSpace/(date1904|lang|roundedCorners|AlternateContent)|printSettings"
    r"|@(refreshedBy|refreshedDate|refreshedVersion|createdVersion|minRefreshableVersion"
    r"|updatedVersion|count|uniqueCount|dataOnRows|editAs)="
)
"""Lines whose loss nobody can see: identities, versions, counts."""

_CONTROL = re.compile(rb"ObjectType\s*=\s*[\"'](\w+)[\"']")


def _ways(book: Book) -> dict[Way, list[str]]:
    """Every part that can be reached, by the kinds on the shortest way to it."""
    titles = {sheet.part: f"{sheet.kind} {sheet.title}" for sheet in book.sheets}
    found: dict[Way, list[str]] = defaultdict(list)
    seen = {book.parts.workbook}
    pending: list[tuple[Way, str]] = [((), "")]
    pending.append((("workbook",), book.parts.workbook))
    for way, part in pending:
        for link in book.parts.links(part):
            if link.external or link.target in seen or link.target not in book.parts:
                continue
            seen.add(link.target)
            further = (*way, titles.get(link.target, link.kind))
            found[further].append(link.target)
            pending.append((further, link.target))
    return found


def _externals(book: Book) -> Counter[str]:
    """What the workbook refers to outside, but for the links of cells."""
    found: Counter[str] = Counter()
    for parts in _ways(book).values():
        for part in parts:
            links = book.parts.links(part)
            found.update(
                f"{x.kind} {x.target}" for x in links if x.external and x.kind != "hyperlink"
            )
    return found


class _Pairing:
    """The parts on one way, before and after."""

    def __init__(self, way: Way, before: Book, after: Book) -> None:
        self.way, self.old, self.new, self.after = way, before.parts, after.parts, after
        self.material = way[-1] not in IMMATERIAL and "printerSettings" not in way

    def differences(self, olds: list[str], news: list[str]) -> Iterator[Difference]:
        digests = defaultdict(list)
        for part in news:
            digests[self.new.digest(part)].append(part)
        left = []
        for part in olds:
            same = digests[self.old.digest(part)]
            if same:
                same.pop()
            else:
                left.append(part)
        rest = [part for part in news if part in {p for same in digests.values() for p in same}]
        for one, other in zip(left, rest, strict=False):
            yield from self._pair(one, other)
        place = " > ".join(self.way)
        for part in left[len(rest) :]:
            yield Difference("part lost", place, part, "", self.material)
        for part in rest[len(left) :]:
            yield Difference(
                "part gained", place, "", part, self.material and self.way[-1] != "theme"
            )

    def _pair(self, one: str, other: str) -> Iterator[Difference]:
        place = " > ".join(self.way)
        if self.way[-1] == "vmlDrawing":
            yield from self._vml(place, one, other)
        elif not self.old.is_xml(one):
            yield Difference("bytes", place, one, other, self.material)
        else:
            try:
                roots = self.old.root(one), self.new.root(other)
                is_chart = self.way[-1] == "chart"
                was, now = (substance(e, without=COPIED if is_chart else ()) for e in roots)
            except etree.XMLSyntaxError:
                yield Difference("bytes", place, one, other, self.material)
                return
            loss = lost(was, now)
            gone = [line for line in loss.gone if not _IMMATERIAL_LINES.search(line)]
            for wrong in wrong_points(*roots, self.after, self._texts) if is_chart else ():
                yield Difference("points", place, wrong, "", self.material)
            texts = "; ".join(gone or loss.gone)[:400], "; ".join(loss.came)[:400]
            if gone:
                yield Difference("content", place, *texts, self.material)
            elif loss.gone or loss.came:
                yield Difference("content", place, *texts, material=False)

    @cached_property
    def _texts(self) -> set[str]:
        return {str(plain(each)).strip() for each in shared_strings(self.new)}

    def _vml(self, place: str, one: str, other: str) -> Iterator[Difference]:
        """Boxes of comments may be drawn anew; controls and pictures may not."""
        was = Counter(_CONTROL.findall(self.old.data(one)))
        now = Counter(_CONTROL.findall(self.new.data(other)))
        gone = {kind.decode(): count for kind, count in (was - now).items() if kind != b"Note"}
        if gone:
            yield Difference("form control", place, str(gone), "")
        else:
            yield Difference("comment boxes", place, one, other, material=False)


def _comments(book: Book, sheet_part: str) -> dict[str, tuple[str, Value]]:
    found = {}
    for part in book.parts.of_kind(sheet_part, "comments"):
        root = book.parts.root(part)
        authors = [e.text or "" for group in children(root, "authors") for e in group if local(e)]
        for group in children(root, "commentList"):
            for comment in children(group, "comment"):
                text = "".join(t.text or "" for e in children(comment, "text") for t in _texts(e))
                author = int(comment.get("authorId", "0"))
                name = authors[author] if author < len(authors) else ""
                found[comment.get("ref", "")] = name, plain(text)
    return found


def _texts(element: Element) -> Iterator[Element]:
    return (part for part in element.iter() if local(part) == "t")


def _compare_comments(before: Book, after: Book) -> Iterator[Difference]:
    for sheet in before.sheets:
        partner = next((s for s in after.sheets if s.title == sheet.title), None)
        if partner is None:
            continue
        was, now = _comments(before, sheet.part), _comments(after, partner.part)
        for ref in was.keys() | now.keys():
            if was.get(ref) != now.get(ref):
                place = f"{sheet.title}!{ref}"
                yield Difference("comment", place, str(was.get(ref)), str(now.get(ref)))


def _compare_outside(before: Book, after: Book) -> Iterator[Difference]:
    gone, came = _externals(before) - _externals(after), _externals(after) - _externals(before)
    if gone or came:
        yield Difference("external target", "workbook", str(gone), str(came))


def _compare_types(before: Book, after: Book) -> Iterator[Difference]:
    """A plain type in place of a special one: the part is not taken for what it is."""
    for part, kind in before.parts.types.items():
        other = after.parts.types.get(part, kind)
        if other != kind and (part == before.parts.workbook or other == "application/xml"):
            yield Difference("content type", part, kind, other)


def compare_belongings(before: Book, after: Book) -> Iterator[Difference]:
    """Compare all parts but sheets, tables, styles and texts, which are compared by meaning."""
    old, new = _ways(before), _ways(after)
    for way in sorted(old.keys() | new.keys()):
        if way[-1].split(" ")[0] not in _ELSEWHERE:
            pairing = _Pairing(way, before, after)
            yield from pairing.differences(old.get(way, []), new.get(way, []))
    yield from _compare_comments(before, after)
    yield from _compare_outside(before, after)
    yield from _compare_types(before, after)
    reached = {part for parts in old.values() for part in parts} | {before.parts.workbook}
    for part in before.parts:
        loose = part not in reached and not part.endswith(".rels") and part != "[content_types].xml"
        if loose and part not in after.parts:
            yield Difference("unreachable part lost", part, part, "", material=False)
