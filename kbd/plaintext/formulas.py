"""Formula-like text: fields of a table that a spreadsheet program evaluates when it opens them.

A delimited text has no types, so a program that opens it takes a field for a formula by how it
begins: with = + - @, one of their full-width forms, a tab or a line end. Whoever may choose the
text of a field may so run a command (DDE) or send other fields away (HYPERLINK, WEBSERVICE).

Not formula-like is what such programs take for a number or cannot evaluate: numbers with their
sign, currency, separators and unit; a sign alone; words behind a sign and a blank ("- see page 3").
"""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kbd.plaintext.encodings import bounded_lines, detect, open_text

__all__ = ["NEUTRAL", "FormulaField", "calls_out", "formula_fields", "is_formula_like", "neutral"]

NEUTRAL = "'"
"""Set before formula-like text: then it is text to every program."""

# Blanks, and what no program shows: some drop it, and read on behind it.
_UNSEEN = r"\s\x00-\x1f\x7f\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
_SIGNS = "=+\\-@＝＋－＠"
_BEGINNING = re.compile(rf"[{_UNSEEN}]*[{_SIGNS}]")
_FIRST = re.compile(rf"[{_UNSEEN}{_SIGNS}\"sS\u017f]")
"""What a formula-like text begins with: most texts are told by that alone."""
_SEPARATOR = re.compile(r"\ufeff?\"?sep=([^\r\n])\"?\s*", re.IGNORECASE)
_BREAK = re.compile(r"[\t\r\n]")
_EVALUABLE = re.compile(r"\w")
# A sign, a currency, digits in groups, an exponent; then a unit, or nothing.
_QUANTITY = re.compile(
    r"[-+－＋][ \u00a0]?[$€£¥]?[ \u00a0]?"
    r"(?:[\d(][\d.,'’/:() \u00a0\u202f-]*|[.,]\d+)(?:[eE][-+]?\d+)?"
    r"[ \u00a0]?(?:[^\W\d]{1,6}\.?|[%‰°€$£¥]+[CF]?)?\s*"
)
_MAX_QUANTITY = 64
_CALLING = re.compile(r"[(!|\[]")
_PROSE = re.compile(r"[-+][ \u00a0]+")
_CALL_OUT = re.compile(r"[A-Za-z_][\w.]*\(|\|[^|]*!|\[[^\]]*\][^!]*!|\\\\[^!]*!", re.ASCII)


def is_formula_like(text: str) -> bool:
    """Return whether a spreadsheet program would evaluate a field of this text, or obey it.

    What it obeys is `sep=;` in the first line: by it the text of other fields is split anew.
    """
    if _FIRST.match(text) is None:
        return False
    if _SEPARATOR.fullmatch(text):
        return True
    begins = _BEGINNING.match(text)
    if begins is None:
        return bool(text) and _BREAK.match(text) is not None and _EVALUABLE.search(text) is not None
    if _EVALUABLE.search(text, begins.end()) is None:
        return False
    if begins.group()[-1] not in "+-＋－":
        return True
    shown = text[begins.end() - 1 :]
    if len(shown) <= _MAX_QUANTITY and _QUANTITY.fullmatch(shown):
        return False
    return not (_PROSE.match(shown) and not _CALLING.search(shown))


def calls_out(text: str) -> bool:
    """Return whether formula-like text calls a function or a program, or reads another file."""
    return _CALL_OUT.search(text) is not None and is_formula_like(text)


def neutral(text: str) -> str:
    """Return text as every program takes it for text."""
    # Once more here: a table has millions of texts, most of which are told by their beginning.
    if _FIRST.match(text) is None:
        return text
    return f"{NEUTRAL}{text}" if is_formula_like(text) else text


class FormulaField(msgspec.Struct, frozen=True):
    """A formula-like field: its line, counted from 1, and its text."""

    line: int
    text: str


_MAX_LINE_CHARACTERS = 1024 * 1024
_MAX_FIELD_CHARACTERS = 2000
_DELIMITERS = ",;\t|"
"""Whatever a program splits by: commas here, semicolons there."""

_QUOTED = re.compile(r"((?:[^\"]|\"\")*)\"?")


class _Splitting:
    """How a text is split into fields, by any of some delimiters.

    Args:
        delimiters: They.
    """

    def __init__(self, delimiters: str) -> None:
        self.delimiters = delimiters
        ends = re.escape(delimiters)
        # Possessive, for a line may be all blanks. A text in quotes may be empty, and go on.
        self.field = re.compile(
            rf"(?:^|(?<=[{ends}]))[ \u00a0\ufeff]*+(?:\"\"(?!\"))?(\"?)"
            rf"(?=[{_UNSEEN}]*+[{_SIGNS}])(?![-+]?[\d.]+(?:[{ends}\r\n]|$))"
        )
        self.shortest = re.compile(rf"[^{ends}]*")
        self.dde = re.compile(rf"[^{ends}]*\|[^|]*!")


_USUAL = _Splitting(_DELIMITERS)


def formula_fields(path: Path) -> Iterator[FormulaField]:
    """Yield the fields of a delimited text that are formula-like, by any usual delimiter.

    Which program will open the file, and what it splits by, is not known: a field counts that is
    formula-like by any of them. Of a long one the first 2,000 characters are given.

    Raises:
        FileReadFailed: It cannot be opened.
    """
    line, splitting = 1, _USUAL
    with open_text(path, detect(path)) as file:
        for piece, ends in bounded_lines(file, _MAX_LINE_CHARACTERS):
            if line == 1 and (named := _SEPARATOR.fullmatch(piece)):
                # The file itself says what programs split it by.
                splitting = _Splitting(_DELIMITERS + named[1])
            for found in splitting.field.finditer(piece):
                text = _formula_at(piece, found, splitting)
                if text:
                    yield FormulaField(line, text)
            line += ends


def _formula_at(line: str, found: re.Match[str], splitting: _Splitting) -> str:
    """Return the formula-like text at a field's beginning as far as it may go, or ""."""
    rest = line[found.end() : found.end() + _MAX_FIELD_CHARACTERS].rstrip("\r\n")
    if found[1] == '"' and (quoted := _QUOTED.match(rest)):
        # What stands behind the closing quote goes on with the field.
        behind = splitting.shortest.match(rest, quoted.end())
        assert behind is not None
        text = quoted[1].replace('""', '"') + behind[0].rstrip()
        return text if is_formula_like(text) else ""
    # By the delimiter that ends it first it is surely a field; what goes on is a call at most.
    shortest = splitting.shortest.match(rest)
    assert shortest is not None
    if is_formula_like(shortest[0]) or (_PROSE.match(rest) and splitting.dde.match(rest)):
        return max((rest.partition(mark)[0] for mark in splitting.delimiters), key=len)
    return ""
