"""Formulas of Office in one line of text: (a+b)/2, x^2, √(x), ∑_(i=1)^n.

ECMA-376, part 1, 22.1.
"""

from collections.abc import Callable, Mapping

from lxml import etree

from kbd_docx.reader.names import M

__all__ = ["linear"]

_PROPERTIES = "Pr"
_VAL = f"{M}val"
_INTEGRAL = "∫"
_LEFT_OUT = ("del", "moveFrom", "instrText", "rPr")
_MOST_CHARS = 20_000
"""Of one formula; what is longer is none that a person wrote."""


def linear(element: etree._Element) -> str:
    """Return a formula as text."""
    return _inside(element)[:_MOST_CHARS]


def _inside(element: etree._Element | None) -> str:
    return "" if element is None else "".join(map(_one, element))


def _one(element: etree._Element) -> str:
    tag = element.tag
    if not isinstance(tag, str):
        return ""
    name = tag.rpartition("}")[2]
    if name == "t":
        return element.text or ""
    if not tag.startswith(M):
        # Runs of the text around have the same names; what is deleted has others.
        return "" if name in _LEFT_OUT else _inside(element)
    form = _FORMS.get(name)
    if form is not None:
        return form(element)
    return "" if name.endswith(_PROPERTIES) else _inside(element)


def _part(element: etree._Element, name: str) -> str:
    return _inside(element.find(f"{M}{name}"))


def _bound(text: str) -> str:
    """Put brackets around what is more than one sign or number."""
    return text if len(text) < 2 or text.isalnum() else f"({text})"


def _told(element: etree._Element, name: str, default: str) -> str:
    """Return a sign that the properties of a form tell."""
    found = element.find(f"{M}{element.tag.rpartition('}')[2]}{_PROPERTIES}/{M}{name}")
    return default if found is None else found.get(_VAL, "")


def _fraction(element: etree._Element) -> str:
    return f"{_bound(_part(element, 'num'))}/{_bound(_part(element, 'den'))}"


def _scripts(element: etree._Element) -> str:
    below, above = _part(element, "sub"), _part(element, "sup")
    return (
        _part(element, "e")
        + (f"_{_bound(below)}" if below else "")
        + (f"^{_bound(above)}" if above else "")
    )


def _sum(element: etree._Element) -> str:
    below, above = _part(element, "sub"), _part(element, "sup")
    return (
        _told(element, "chr", _INTEGRAL)
        + (f"_{_bound(below)}" if below else "")
        + (f"^{_bound(above)}" if above else "")
        + f" {_part(element, 'e')}"
    )


def _root(element: etree._Element) -> str:
    degree = _part(element, "deg")
    return f"{degree}√({_part(element, 'e')})"


def _brackets(element: etree._Element) -> str:
    between = _told(element, "sepChr", "|").join(map(_inside, element.iterchildren(f"{M}e")))
    return f"{_told(element, 'begChr', '(')}{between}{_told(element, 'endChr', ')')}"


def _rows(element: etree._Element) -> str:
    rows = (
        ", ".join(map(_inside, row.iterchildren(f"{M}e"))) for row in element.iterchildren(f"{M}mr")
    )
    return f"[{'; '.join(rows)}]"


def _limit(element: etree._Element) -> str:
    return f"{_part(element, 'e')}_{_bound(_part(element, 'lim'))}"


def _function(element: etree._Element) -> str:
    of = _part(element, "e")
    return f"{_part(element, 'fName')}{of if of.startswith('(') else f'({of})'}"


_FORMS: Mapping[str, Callable[[etree._Element], str]] = {
    "f": _fraction, "sSup": _scripts, "sSub": _scripts, "sSubSup": _scripts, "sPre": _scripts,
    "nary": _sum, "rad": _root, "d": _brackets, "m": _rows, "limLow": _limit, "limUpp": _limit,
    "func": _function,
}  # fmt: skip
