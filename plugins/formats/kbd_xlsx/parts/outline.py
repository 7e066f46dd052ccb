"""Where the pieces of a worksheet part lie, and whether it has a form that can be spliced."""

import re
from functools import cached_property

from kbd.errors import FileReadFailed, ValidationFailed
from kbd_xlsx.parts.markup import (
    ATTRIBUTES,
    masked,
    may_have_marks,
    start_tag,
    tag_around,
    utf8,
)

__all__ = ["Outline"]

_ROOT = re.compile(rb"<([^\s<>/:!?]+:)?([^\s<>/:!?]+)(?=[\s/>])(" + ATTRIBUTES + rb")>")
_SPACE = re.compile(rb"""\bxmlns(?::([^\s=]+))?\s*=\s*["']([^"'<]*)["']""")
_ALTERNATIVE = re.compile(rb"<[^\s<>/:]+:AlternateContent[\s>]")


class Outline:
    """The pieces of a worksheet part.

    Attributes:
        data: The part in UTF-8.
        scan: The same with blanks for comments and the like: what patterns look at.
        name: The sheet's title.
        prefix: The prefix of the part's names.
        inside: Where the root's children begin.
        sheet_data: The start and end of the start tag of sheetData.
        is_closed: Whether that tag is closed, so that there are no rows.
        rows_end: Where the rows end.
        tail: Where sheetData ends.

    Args:
        data: The part.
        name: The sheet's title.

    Raises:
        ValidationFailed: It has a form that cannot be changed safely.
        FileReadFailed: It is damaged.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.data = utf8(data, name)
        has_marks = may_have_marks(self.data)
        self.scan = masked(self.data) if has_marks else self.data
        if has_marks and (b"<!" in self.scan or b"<?" in self.scan):
            raise FileReadFailed(
                f"Sheet {name} holds a document type declaration or an open comment."
            )
        root = _ROOT.search(self.scan)
        if root is None:
            raise FileReadFailed(f"Sheet {name} is damaged: its part is not valid XML.")
        if root[2] != b"worksheet":
            raise ValidationFailed(
                f"Sheet {name} has no cells: it is a {root[2].decode('utf-8', 'replace')}."
            )
        self.prefix = (root[1] or b"").decode("utf-8", "replace")
        self._tag = self.prefix.encode()
        self.inside = root.end()
        self._find_rows()
        self._check_spaces(root[3])
        self._check_rows()

    @cached_property
    def has_formulas(self) -> bool:
        """Whether cells may have formulas."""
        formula = b"<" + self.qualified(b"f")
        return self.scan.find(formula, self.sheet_data[1], self.rows_end) >= 0

    def qualified(self, name: bytes) -> bytes:
        """Return a name with the part's prefix."""
        return self._tag + name

    def _find_rows(self) -> None:
        found = re.compile(start_tag(self._tag + b"sheetData")).search(self.scan, self.inside)
        if found is None:
            raise ValidationFailed(f"Sheet {self.name} has no element sheetData to put cells into.")
        self.sheet_data = found.span()
        self.is_closed = found[1].endswith(b"/")
        self.rows_end = self.tail = found.end()
        if self.is_closed:
            return
        self.rows_end = self.scan.find(b"</" + self._tag + b"sheetData", found.end())
        self.tail = self.scan.find(b">", self.rows_end) + 1
        if self.rows_end < 0 or not self.tail:
            raise FileReadFailed(f"Sheet {self.name} is damaged: its rows do not end.")

    def _check_spaces(self, attributes: bytes) -> None:
        """Refuse a part that writes names of the format in two ways."""
        spaces = {found[1] or b"": found[2] for found in _SPACE.finditer(attributes)}
        own = spaces.get(self._tag[:-1])
        for prefix, space in spaces.items():
            if space != own or prefix == self._tag[:-1]:
                continue
            names = b"<" + re.escape(prefix) + b":" if prefix else rb"<[^\s<>/:!?]+[\s/>]"
            if re.search(names, self.scan):
                raise ValidationFailed(f"Sheet {self.name} writes its elements with two prefixes.")
        place = self.sheet_data[1]
        while (place := self.scan.find(b"xmlns", place, self.rows_end)) >= 0:
            for found in _SPACE.finditer(tag_around(self.scan, place)):
                is_own = (found[1] or b"") == self._tag[:-1]
                if (found[2] == own) != is_own and (is_own or found[2] == own or not found[1]):
                    raise ValidationFailed(
                        f"Sheet {self.name} changes the meaning of prefixes within its rows."
                    )
            # The rest of the tag was seen, and a text has none; after rows there are tags.
            place = self.scan.find(b"<", place)

    def _check_rows(self) -> None:
        """Refuse what looks like rows or cells inside of something else."""
        start, end = self.sheet_data[1], self.rows_end
        # The search for the plain word is many times as fast as the pattern.
        word = self.scan.find(b":AlternateContent", start, end)
        if word >= 0 and _ALTERNATIVE.search(self.scan, start, end):
            raise ValidationFailed(
                f"Sheet {self.name} holds rows for different programs (AlternateContent)."
            )
        extension = b"<" + self._tag + b"extLst"
        if self.scan.find(extension, start, end) < 0:
            return
        close = b"</" + self._tag + b"extLst"
        cell = re.compile(rb"<" + re.escape(self._tag) + rb"(?:row|c|f|v|is)(?=[\s/>])")
        while (start := self.scan.find(extension, start, end)) >= 0:
            stop = self.scan.find(close, start, end)
            if stop < 0 or cell.search(self.scan, start, stop):
                raise ValidationFailed(f"Sheet {self.name} holds cells inside an extension.")
            start = stop

    def refused(self, reason: str) -> ValidationFailed:
        """Return the refusal of a part for a reason, which ends the sentence."""
        return ValidationFailed(f"Sheet {self.name} cannot be changed safely: {reason}.")

    def damaged(self, reason: str) -> FileReadFailed:
        """Return the error of a part that is not what it should be; the reason ends it."""
        return FileReadFailed(f"Sheet {self.name} is damaged: {reason}.")
