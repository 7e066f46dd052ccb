"""Names of sheets in formulas and in the parts of a workbook, renamed where they stand.

A reference is found in the text of elements that hold formulas, and in attributes that name cells;
strings within formulas, references into other workbooks and all other bytes stay.
"""

import re
from collections.abc import Iterator
from xml.sax.saxutils import escape

from kbd_xlsx.parts.markup import ATTRIBUTES, plain

__all__ = ["SheetRename", "quoted_name", "sheet_spans"]

_TOKEN = re.compile(
    r'"(?:[^"]|"")*"'
    r"|'(?P<quoted>(?:[^']|'')+)'!"
    r"|\[[^\[\]]*\][\w.]+(?::[\w.]+)?!"
    r"|\[(?:[^\[\]]|\[[^\[\]]*\])*\]"
    r"|(?P<bare>[^\W\d][\w.]*(?::[^\W\d][\w.]*)?)!"
    r"|[\w.]+"
)
_LIKE_REFERENCE = re.compile(r"[A-Z]{1,3}\d+|R\d*(?:C\d*)?|C\d*|TRUE|FALSE", re.IGNORECASE)
_PLAIN = re.compile(r"[^\W\d]\w*")
# Elements whose text is a formula or a reference, whatever their prefix.
_TEXTS = re.compile(
    rb"<((?:[\w.-]+:)?(?:f|formula|formula1|formula2|definedName|calculatedColumnFormula"
    rb"|totalsRowFormula|FmlaLink|FmlaRange|FmlaGroup|FmlaTxbx|FmlaPict))(?=[\s>])("
    + ATTRIBUTES
    + rb")(?<!/)>([^<]+)</"
)
_REFERENCES = re.compile(
    rb"(\s(?:location|textlink|fmlaLink|fmlaRange|fmlaGroup|fmlaTxbx|linkedCell|listFillRange"
    rb"|Target)=)(\"[^\"<]*\"|'[^'<]*')"
)
_TITLES = re.compile(
    rb"(<(?:[\w.-]+:)?(?:worksheetSource|rangeSet|dataRef)\s[^<>]*?\bsheet=)(\"[^\"<]*\"|'[^'<]*')"
)


def quoted_name(name: str) -> str:
    """Return a sheet's name as formulas have it before "!"."""
    if _PLAIN.fullmatch(name) and not _LIKE_REFERENCE.fullmatch(name):
        return name
    return "'" + name.replace("'", "''") + "'"


def sheet_spans(formula: str) -> Iterator[tuple[str, str]]:
    """Yield the first and the last sheet of each reference over several sheets."""
    for found in _TOKEN.finditer(formula):
        name, _ = _name_of(found)
        first, colon, last = name.partition(":")
        if colon and "[" not in name:
            yield first, last


class SheetRename:
    """A sheet's old and new name.

    Args:
        old: The old one.
        new: The new one.
    """

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new
        self._folded = old.casefold()
        # Signs that XML or formulas escape may be spelt in many ways: such a name is looked for in
        # all parts.
        self._mark = "" if set(old) & set("&<>'\"") else self._folded

    def formula(self, text: str) -> str:
        """Return a formula with the new name for the old one."""
        return _TOKEN.sub(self._token, text)

    def part(self, data: bytes) -> bytes:
        """Return a part with the new name for the old one; its bytes if it does not name it."""
        # Most parts do not name the sheet, and to look for its name is quick.
        if self._mark and self._mark not in data.decode("utf-8", "replace").casefold():
            return data
        data = _TEXTS.sub(self._text, data)
        data = _REFERENCES.sub(self._reference, data)
        return _TITLES.sub(self._title, data)

    def _token(self, found: re.Match[str]) -> str:
        name, before = _name_of(found)
        if not name or "[" in name:
            return found[0]
        ends = name.split(":")
        if all(end.casefold() != self._folded for end in ends):
            return found[0]
        renamed = [self.new if end.casefold() == self._folded else end for end in ends]
        if all(quoted_name(end) == end for end in renamed):
            return before + ":".join(renamed) + "!"
        return f"{before}'" + ":".join(renamed).replace("'", "''") + "'!"

    def _text(self, found: re.Match[bytes]) -> bytes:
        old = plain(found[3])
        new = self.formula(old)
        if new == old:
            return found[0]
        start = found.start(3) - found.start()
        return found[0][:start] + escape(new).encode() + b"</"

    def _reference(self, found: re.Match[bytes]) -> bytes:
        old = plain(found[2][1:-1])
        sign = "#" if old.startswith("#") else ""
        if found[1].strip() == b"Target=" and not sign:
            return found[0]
        new = sign + self.formula(old.removeprefix("#"))
        return found[0] if new == old else found[1] + _attribute(new)

    def _title(self, found: re.Match[bytes]) -> bytes:
        if plain(found[2][1:-1]).casefold() != self._folded:
            return found[0]
        return found[1] + _attribute(self.new)


def _name_of(found: re.Match[str]) -> tuple[str, str]:
    """Return the name that a token has before "!", and what of the token is none of it."""
    if found["quoted"]:
        return found["quoted"].replace("''", "'"), ""
    name = found["bare"] or ""
    first, colon, last = name.partition(":")
    # Of Data!B2:Data!B3 the part before the colon ends the first reference.
    is_cell = found.string[found.start() - 1 : found.start()] == "!"
    if colon and (is_cell or _LIKE_REFERENCE.fullmatch(first)):
        return last, f"{first}:"
    return name, ""


def _attribute(value: str) -> bytes:
    return b'"' + escape(value, {'"': "&quot;"}).encode() + b'"'
