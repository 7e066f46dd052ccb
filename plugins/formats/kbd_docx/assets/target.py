"""The document that gets what is copied, while it changes."""

import posixpath
from copy import deepcopy

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.office.operations import EditWarnings
from kbd.opc import is_strict_part, strict
from kbd.opc.rewriter import Rewriting, xml_bytes
from kbd_docx.blocks import PARAGRAPH, W, blocks
from kbd_docx.styles.document import DocxParts, R

__all__ = ["Target"]

_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.{}+xml"
_COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_PLAIN_SPACES = frozenset((W.strip("{}"), R.strip("{}"), "http://www.w3.org/XML/1998/namespace"))
_OLD_DRAWING = ("urn:schemas-microsoft-com:", "http://schemas.openxmlformats.org/")
"""Namespaces of these every program knows."""


class Target(DocxParts):
    """A document whose parts may be changed; only those that are named so are written anew.

    Args:
        rewriting: The package.
        main: Its main part.

    Attributes:
        warnings: What the user should know, and what the document newly reaches out to.
    """

    def __init__(self, rewriting: Rewriting, main: str) -> None:
        super().__init__(rewriting, main)
        self.rewriting = rewriting
        self.warnings = EditWarnings()
        self._changed: dict[str, bool] = {}
        self._spaces: dict[str, dict[str, str]] = {}

    @property
    def body(self) -> etree._Element:
        """The body, to be changed; raises ValidationFailed where there is none."""
        found = self.changed(self.main).find(f"{W}body")
        if found is None:
            raise ValidationFailed(f"{self.rewriting.name} has no body to put anything into.")
        return found

    def changed(self, part: str) -> etree._Element:
        """Return the root of a part that is about to change.

        Raises:
            ValidationFailed: It cannot be changed without a loss.
        """
        if part not in self._changed:
            data = self.rewriting.read(part)
            self._changed[part] = is_strict_part(data, part, self.rewriting.name)
        return self.root(part)

    def added(self, part: str, root: etree._Element, type_: str) -> None:
        """Add a part; `type_` is the word for it in its content type ("header")."""
        self.rewriting.add(part, b"", _TYPE.format(type_))
        self._roots[part] = root
        self._changed[part] = self.rewriting.is_strict

    def replace_one(self, kind: str, part: str) -> None:
        """Take note that another part is now the one of its kind."""
        self._ones[kind] = part

    def dropped(self, part: str) -> None:
        """Take a part away that nothing names any more; what it was related to stays."""
        self.rewriting.drop(part)
        self._roots.pop(part, None)
        self._changed.pop(part, None)

    def ensured(self, kind: str, name: str) -> etree._Element:
        """Return the root of a part that a document has one of, which is made if it has none.

        Args:
            kind: The kind of its relation, which is the word in its type, too ("styles").
            name: The name of its root element.
        """
        part = self.part(kind)
        if not part:
            part = self.free_part(kind, numbered=False)
            self.added(part, etree.Element(f"{W}{name}", nsmap={"w": W.strip("{}")}), kind)
            self.rewriting.relate(self.main, kind, part)
            self._ones[kind] = part
        return self.changed(part)

    def free_part(self, stem: str, *, numbered: bool = True) -> str:
        """Return the name of a part beside the main one that is not there yet."""
        folder = posixpath.dirname(self.main)
        plain = posixpath.join(folder, f"{stem}.xml")
        if not numbered and plain not in self.rewriting:
            return plain
        return self.rewriting.free_name(posixpath.join(folder, f"{stem}{{}}.xml"))

    def welcome(self, part: str, element: etree._Element) -> None:
        """Have older programs pass over what is new in a copied element, as its source has."""
        for each in element.iter():
            if not isinstance(each.tag, str):
                continue
            for name in (each.tag, *each.attrib):
                space = etree.QName(str(name)).namespace
                if space is None or space in _PLAIN_SPACES or space.startswith(_OLD_DRAWING):
                    continue
                prefix = next((key for key, uri in each.nsmap.items() if uri == space), None)
                self._spaces.setdefault(part, {}).setdefault(space, prefix or "x")

    def paragraphs(self, first: int, last: int) -> list[etree._Element]:
        """Return paragraphs of the body, counted from 1; raises ValidationFailed."""
        return self._counted(PARAGRAPH, "paragraph", first, last, 1)

    def tables(self, first: int, last: int) -> list[etree._Element]:
        """Return tables of the body, counted from 0; raises ValidationFailed."""
        return self._counted(f"{W}tbl", "table", first, last, 0)

    def finish(self) -> None:
        """Write the parts that have changed."""
        for part, is_strict in self._changed.items():
            data = xml_bytes(_welcoming(self.root(part), self._spaces.get(part, {})))
            self.rewriting.put(part, strict(data) if is_strict else data)

    def _counted(
        self, tag: str, what: str, first: int, last: int, base: int
    ) -> list[etree._Element]:
        found = [each for each in blocks(self.body) if each.tag == tag]
        if not base <= first <= last < len(found) + base:
            raise ValidationFailed(
                f"The target has no {what} {last}; it has {len(found):,}, counted from {base}."
            )
        return found[first - base : last - base + 1]


def _welcoming(root: etree._Element, spaces: dict[str, str]) -> etree._Element:
    """Return a root that names namespaces as those that programs may pass over."""
    known: dict[str | None, str] = dict(root.nsmap)
    ignored = root.get(f"{{{_COMPATIBILITY}}}Ignorable", "").split()
    passed = {known.get(prefix) for prefix in ignored}
    wanted = {space: prefix for space, prefix in spaces.items() if space not in passed}
    if not wanted:
        return root
    known.setdefault("mc", _COMPATIBILITY)
    for space, wish in wanted.items():
        prefix, number = wish, 0
        while known.get(prefix, space) != space:
            number += 1
            prefix = f"{wish}_{number}"
        known[prefix] = space
        ignored.append(prefix)
    # The stubs want prefixes to be texts; the plain namespace's is None.
    made = etree.Element(root.tag, nsmap=known)  # type: ignore[arg-type]
    made.attrib.update(root.attrib)
    made.set(f"{{{_COMPATIBILITY}}}Ignorable", " ".join(ignored))
    made.text = root.text
    # Copies, for moving an element takes the square of the time that its size does.
    made.extend([deepcopy(child) for child in root])
    return made
