"""What an edit would leave behind of what it deletes: remarks and copies beside the text.

Footnotes, endnotes and comments stand in parts of their own, and the text holds only their signs:
without a sign nobody sees them, but they stay readable in the file. So they are taken out, with
what other parts say of them (ECMA-376, part 1, 11.3.2, 11.3.4, 11.3.7; MS-DOCX, 2.5.1 to 2.5.4 for
threads, ids and people). What else keeps a copy of deleted text (properties, data that controls
show, headers) is named.
"""

import html
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.office.operations import EditWarnings, listed
from kbd.office.reach import live_parts
from kbd.opc.element_names import local_name
from kbd.opc.package import Relation
from kbd.opc.rewriter import Rewriting, xml_bytes

__all__ = ["DocxLeftovers"]

_SIGN = re.compile(
    rb"<(?:[\w.-]+:)?(footnote|endnote|comment)Reference(?=[\s/>])[^>]*?\s(?:[\w.-]+:)?id\s*=\s*"
    rb"[\"'](-?\d{1,15})[\"']"
)
_NOTES = {"footnote": "footnotes", "endnote": "endnotes", "comment": "comments"}

_MIN_CHARACTERS = 6
"""Of a text that is distinctive enough to be sought elsewhere."""

_MAX_TEXTS = 2_000
_MAX_SOUGHT_BYTES = 4_000_000
_MAX_SHOWN = 5

_TAG = re.compile(r"<[^>]*>")
_LOOKS = re.compile(
    r"(^|/)(styles|stylesWithEffects|theme\d*|fontTable|webSettings|numbering|\[Content_Types\])"
    r"\.xml$|\.rels$|^docProps/thumbnail",
    re.IGNORECASE,
)
"""Parts that hold looks and no text."""

Signs = set[tuple[str, str]]
"""Signs of notes and comments: the kind, and the id."""


class DocxLeftovers:
    """What an edit of a document leaves behind, found when it is saved.

    Args:
        rewriting: The package after the edit.
        main: The name of the main part.
        warnings: The warnings of the edit.
    """

    def __init__(self, rewriting: Rewriting, main: str, warnings: EditWarnings) -> None:
        self._rewriting, self._main, self._warnings = rewriting, main, warnings
        self._parts = {
            relation.kind: relation.target
            for relation in reversed(rewriting.relations(main))
            if not relation.external and relation.target in rewriting
        }

    def erase(self, texts: Collection[str], replaced: Collection[str]) -> None:
        """Erase what is left behind, and warn of what cannot be.

        Args:
            texts: The texts of the paragraphs that went.
            replaced: Texts that others stand in place of.
        """
        try:
            gone = self._gone()
            erased: list[str] = []
            for kind in ("footnote", "endnote"):
                erased += self._erase_notes(kind, gone)
            if gone:
                # A note that went may have held the sign of a comment.
                gone |= self._gone()
            erased += self._erase_comments({id_ for kind, id_ in gone if kind == "comment"})
            self._name_copies({*texts, *erased, *replaced})
            if any(text.strip() for text in texts):
                self._name_preview()
        except FileReadFailed as error:
            self._warnings.warn(f"Texts that this edit took away may stay in the file: {error}.")

    def _gone(self) -> Signs:
        """Return the signs that were there before the edit and are not now."""
        if not any(kind in self._parts for kind in _NOTES.values()):
            return set()
        changed = [part for part in self._stories() if self._rewriting.is_changed(part)]
        gone: Signs = set()
        for part in changed:
            gone |= _signs(self._rewriting.original(part) or b"")
        # Most edits take no sign away, so that other parts need not be looked into.
        for part in (*changed, *(each for each in self._stories() if each not in changed)):
            if not gone:
                break
            gone -= _signs(self._rewriting.read(part))
        return gone

    def _stories(self) -> Iterator[str]:
        yield self._main
        for relation in self._rewriting.relations(self._main):
            is_story = relation.kind in ("header", "footer", "footnotes", "endnotes")
            if is_story and not relation.external and relation.target in self._rewriting:
                yield relation.target

    def _erase_notes(self, kind: str, gone: Signs) -> list[str]:
        ids = {id_ for each, id_ in gone if each == kind}
        part = self._parts.get(_NOTES[kind], "")
        if not ids or not part:
            return []
        root = self._rewriting.root(part)
        # Separators have a type, and no sign names them.
        notes = [
            each for each in root
            if local_name(each) == kind and _value(each, "id") in ids and not _value(each, "type")
        ]  # fmt: skip
        return self._take_out(part, root, notes)

    def _take_out(
        self, part: str, root: etree._Element, elements: list[etree._Element]
    ) -> list[str]:
        """Take elements out of a part, with what only they referred to; return their texts."""
        if not elements:
            return []
        texts = [text for each in elements for text in _texts(each)]
        named = _named(elements)
        for each in elements:
            root.remove(each)
        self._rewriting.put(part, xml_bytes(root))
        self._drop_relations(part, named - _named([root]))
        return texts

    def _drop_relations(self, part: str, ids: Collection[str]) -> None:
        dropped = [each for each in self._rewriting.relations(part) if each.id in ids]
        for relation in dropped:
            self._rewriting.unrelate(part, relation.id)
        self._drop_unreached(dropped)

    def _drop_unreached(self, relations: Iterable[Relation]) -> None:
        """Drop the parts that relations led to, and theirs, if nothing leads to them any more."""
        goals = [each.target for each in relations if not each.external]
        while goals:
            live = set(live_parts(self._rewriting))
            lost = [each for each in goals if each not in live and each in self._rewriting]
            goals = [
                relation.target for each in lost for relation in self._rewriting.relations(each)
                if not relation.external
            ]  # fmt: skip
            for each in lost:
                self._rewriting.drop(each)

    def _erase_comments(self, ids: set[str]) -> list[str]:
        part = self._parts.get("comments", "")
        if not ids or not part:
            return []
        root = self._rewriting.root(part)
        by_paragraph = {
            _value(paragraph, "paraId"): comment
            for comment in root
            for paragraph in comment.iter("{*}p")
            if _value(paragraph, "paraId")
        }
        comments = [each for each in root if _value(each, "id") in ids]
        comments += self._replies(comments, by_paragraph)
        authors = {_value(each, "author") for each in comments}
        paragraphs = {key for key, comment in by_paragraph.items() if comment in set(comments)}
        texts = self._take_out(part, root, comments)
        self._take_entries("commentsExtended", "paraId", paragraphs)
        durable = self._take_entries("commentsIds", "paraId", paragraphs)
        self._take_entries("commentsExtensible", "durableId", durable)
        self._take_people(authors - {""})
        return texts

    def _replies(
        self, comments: list[etree._Element], by_paragraph: Mapping[str, etree._Element]
    ) -> list[etree._Element]:
        """Return the answers to comments, and to those, that have no sign in the text."""
        part = self._parts.get("commentsExtended", "")
        if not part:
            return []
        entries = list(self._rewriting.root(part))
        signs = set().union(*(_signs(self._rewriting.read(each)) for each in self._stories()))
        found: list[etree._Element] = []
        known = set(comments)
        for _ in range(len(entries)):
            added = [
                reply
                for entry in entries
                if by_paragraph.get(_value(entry, "paraIdParent")) in known
                and (reply := by_paragraph.get(_value(entry, "paraId"))) is not None
                and reply not in known
                and ("comment", _value(reply, "id")) not in signs
            ]
            if not added:
                break
            found += added
            known.update(added)
        return found

    def _take_entries(self, kind: str, key: str, values: Collection[str]) -> set[str]:
        """Take the entries of paragraphs out of a part about comments; return their lasting ids."""
        part = self._parts.get(kind, "")
        if not part or not values:
            return set()
        root = self._rewriting.root(part)
        gone = [each for each in root if _value(each, key) in values]
        self._take_out(part, root, gone)
        return {_value(each, "durableId") for each in gone} - {""}

    def _take_people(self, authors: Collection[str]) -> None:
        """Take people out of the list of them who wrote nothing else."""
        part = self._parts.get("people", "")
        if not part or not authors:
            return
        root = self._rewriting.root(part)
        texts = [
            self._rewriting.read(each) for each in (*self._stories(), self._parts.get("comments"))
            if each and each in self._rewriting
        ]  # fmt: skip
        written = {author for author in authors if any(_is_author(author, data) for data in texts)}
        people = [each for each in root if _value(each, "author") in set(authors) - written]
        self._take_out(part, root, people)

    def _name_copies(self, texts: Collection[str]) -> None:
        """Warn of parts that hold a text which went."""
        sought = sorted(
            {text.strip() for text in texts if len(text.strip()) >= _MIN_CHARACTERS},
            key=lambda text: (len(text), text),
        )[-_MAX_TEXTS:]
        if not sought:
            return
        found = []
        own = self._rewriting.read(self._main)
        shown = _plain(own)
        sought = [text for text in sought if text not in shown]
        for part in self._rewriting.parts() if sought else ():
            if not part.endswith((".xml", ".vml")) or part == self._main or _LOOKS.search(part):
                continue
            if self._rewriting.size(part) > _MAX_SOUGHT_BYTES:
                continue
            data = self._rewriting.read(part)
            both = f"{_plain(data)}\n{html.unescape(data.decode('utf-8', 'replace'))}"
            if any(text in both for text in sought):
                found.append(part)
        if found:
            self._warnings.warn(
                "Text that is gone from the body stands elsewhere in the file still: "
                f"{listed(found, _MAX_SHOWN)}."
            )

    def _name_preview(self) -> None:
        for part in self._rewriting.parts():
            if part.lower().startswith("docprops/thumbnail"):
                self._warnings.warn(
                    f"The preview picture of the file ({part}) still shows its first page as it "
                    "was."
                )
                return


def _signs(data: bytes) -> Signs:
    return {(kind.decode(), id_.decode()) for kind, id_ in _SIGN.findall(data)}


def _value(element: etree._Element, name: str) -> str:
    """Return an attribute by its local name, "" if there is none."""
    return next(
        (str(value) for key, value in element.attrib.items()
         if str(key).rpartition("}")[2] == name), "",
    )  # fmt: skip


def _named(elements: Iterable[etree._Element]) -> set[str]:
    """Return what may be ids of relations: the values of attributes that have a namespace."""
    return {
        str(value)
        for element in elements
        for each in element.iter(tag=etree.Element)
        for key, value in each.attrib.items()
        if str(key).startswith("{")
    }


def _texts(element: etree._Element) -> Iterator[str]:
    for paragraph in element.iter("{*}p"):
        yield "".join(each.text or "" for each in paragraph.iter("{*}t", "{*}delText"))


def _plain(data: bytes) -> str:
    """Return the text of a part without its tags."""
    return html.unescape(_TAG.sub("", data.decode("utf-8", "replace")))


def _is_author(author: str, data: bytes) -> bool:
    return f'author="{html.escape(author, quote=True)}"'.encode() in data or (
        f'author="{author}"'.encode() in data
    )
