"""Formulas as people know them: OpenFormula (OpenDocument 1.3, part 4) without what files add."""

import re

__all__ = ["formula_text", "is_momentary"]

_PREFIX = re.compile(r"(?:of|oooc|msoxl|ooow):(?==)")
# Texts in quotes are passed over, so that nothing in them is taken for a reference.
_REFERENCE = re.compile(r'"[^"]*"|\[([^\[\]"]{1,300})\]')
_LOCAL = re.compile(r"\.([$A-Za-z0-9]+)(?::\.([$A-Za-z0-9]+))?")
_ELSEWHERE = re.compile(r"(\$?(?:'(?:[^']|'')*'|[^'.:#]+))\.([$A-Za-z0-9]+)(?::\.([$A-Za-z0-9]+))?")
_MOMENTARY = re.compile(
    r'"[^"]*"|\b(NOW|TODAY|RAND|RANDBETWEEN|RANDARRAY|OFFSET|INDIRECT|CELL|INFO|WEBSERVICE|DDE'
    r"|RAND\.NV|RANDBETWEEN\.NV|CURRENT)\s*\(",
    re.IGNORECASE,
)


def formula_text(formula: str) -> str:
    """Return a formula with its "=": `of:=SUM([.B2:.B6])` is =SUM(B2:B6); "" for none.

    Arguments stay separated by semicolons, as in the file.
    """
    if not formula:
        return ""
    text = _PREFIX.sub("", formula.strip(), count=1)
    if not text:
        return ""
    text = text if text.startswith("=") else f"={text}"
    return _REFERENCE.sub(_shown, text)


def is_momentary(text: str) -> bool:
    """Tell whether a formula's result changes with time or chance, or by what no cell tells."""
    return any(found[1] for found in _MOMENTARY.finditer(text))


def _shown(found: re.Match[str]) -> str:
    reference = found[1]
    if reference is None:
        return found[0]
    if local := _LOCAL.fullmatch(reference):
        return _span("", local[1], local[2])
    if other := _ELSEWHERE.fullmatch(reference):
        return _span(f"{other[1].removeprefix('$')}!", other[2], other[3])
    return found[0]


def _span(sheet: str, first: str, last: str | None) -> str:
    return f"{sheet}{first}:{last}" if last else f"{sheet}{first}"
