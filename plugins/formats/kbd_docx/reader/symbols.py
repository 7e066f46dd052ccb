"""Symbols and formulas as plain text: signs of picture fonts, and math in one line.

Word keeps a sign of a font that has pictures for letters as a code of 0xF000 and up, with the
font's name. Only signs that carry a meaning in a text are named here; of others the font and the
code are told. Formulas (ECMA-376, part 1, 22.1) become (a+b)/2, x^2, √(x), ∑_(i=1)^n.
"""

from collections.abc import Callable, Mapping

from lxml import etree

from kbd_docx.document import M

__all__ = ["linear_format", "symbol_text"]


_GREEK = dict(
    zip(
        "ABGDEZHQIKLMNXOPRSTUFCYWabgdezhqiklmnxoprstufcyw",
        "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρστυφχψω",
        strict=True,
    )
)
_SYMBOL = {ord(latin): greek for latin, greek in _GREEK.items()} | {
    0x22: "∀", 0x24: "∃", 0x27: "∋", 0x40: "≅", 0x5C: "∴", 0x5E: "⊥", 0xA2: "′", 0xA3: "≤",
    0xA5: "∞", 0xAB: "↔", 0xAC: "←", 0xAD: "↑", 0xAE: "→", 0xAF: "↓", 0xB0: "°", 0xB1: "±",
    0xB2: "″", 0xB3: "≥", 0xB4: "×", 0xB5: "∝", 0xB6: "∂", 0xB7: "•", 0xB8: "÷", 0xB9: "≠",
    0xBA: "≡", 0xBB: "≈", 0xBC: "…", 0xC5: "⊕", 0xC6: "∅", 0xC7: "∩", 0xC8: "∪", 0xCE: "∈",
    0xCF: "∉", 0xD0: "∠", 0xD1: "∇", 0xD2: "®", 0xD3: "©", 0xD4: "™", 0xD5: "∏", 0xD6: "√",
    0xD7: "⋅", 0xD8: "¬", 0xD9: "∧", 0xDA: "∨", 0xDB: "⇔", 0xDC: "⇐", 0xDE: "⇒", 0xE5: "∑",
    0xF2: "∫",
}  # fmt: skip
_WINGDINGS = {
    0x28: "☎", 0x2A: "✉", 0x36: "⌛", 0x46: "☞", 0x4A: "☺", 0x4C: "☹", 0x6C: "●", 0x6E: "■",
    0x6F: "□", 0x70: "❐", 0x71: "❑", 0x72: "❒", 0x75: "◆", 0x76: "❖", 0x77: "⬥", 0x9F: "•",
    0xA1: "○", 0xA7: "▪", 0xA8: "◻", 0xAB: "★", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑",
    0xE2: "↓", 0xE8: "➔", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip
_WINGDINGS_2 = {
    0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☑", 0x97: "●", 0xA3: "□",
}  # fmt: skip
_FONTS = {"symbol": _SYMBOL, "wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2}
_ASCII = range(0x21, 0x7F)
"""Where the font Symbol has digits and stops like others."""

_PRIVATE = range(0xF000, 0xF100)
_MAX_CODE = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)
_SHOWN_CHARS = 40


def symbol_text(font: str, code: str) -> str:
    """Return a symbol as plain text; of an unknown one its font and code.

    Args:
        font: The name of the font.
        code: Its place there, in hexadecimal digits.
    """
    try:
        place = int(code[:8], 16)
    except ValueError:
        return ""
    signs = _FONTS.get(font.casefold())
    # Some files have the place in the font as it is, not moved into the private area.
    at = place - _PRIVATE.start if place in _PRIVATE else place
    if signs is not None and at in signs:
        return signs[at]
    if signs is _SYMBOL and at in _ASCII:
        return chr(at)
    if place in _PRIVATE or signs is not None:
        return f"[symbol: {font[:_SHOWN_CHARS]} {place:04X}]"
    # A surrogate by itself is no character and cannot be encoded.
    return chr(place) if 0 < place <= _MAX_CODE and place not in _SURROGATES else ""


_PROPERTIES = "Pr"
_VAL = f"{M}val"
_INTEGRAL = "∫"  # of an operator that tells no sign
_LEFT_OUT = ("del", "moveFrom", "instrText", "rPr")
_MAX_CHARS = 20_000
"""Of one formula; what is longer is none that a person wrote."""


def linear_format(element: etree._Element) -> str:
    """Return a formula in linear format."""
    return _inside(element)[:_MAX_CHARS]


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
    """Bracket what is more than one sign or number."""
    return text if len(text) < 2 or text.isalnum() else f"({text})"


def _property(element: etree._Element, name: str, default: str) -> str:
    """Return a sign that the properties of a form tell."""
    found = element.find(f"{M}{element.tag.rpartition('}')[2]}{_PROPERTIES}/{M}{name}")
    # An element that is left out means the default, one without a value means no sign at all.
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
        _property(element, "chr", _INTEGRAL)
        + (f"_{_bound(below)}" if below else "")
        + (f"^{_bound(above)}" if above else "")
        + f" {_part(element, 'e')}"
    )


def _root(element: etree._Element) -> str:
    degree = _part(element, "deg")
    return f"{degree}√({_part(element, 'e')})"


def _brackets(element: etree._Element) -> str:
    between = _property(element, "sepChr", "|").join(map(_inside, element.iterchildren(f"{M}e")))
    return f"{_property(element, 'begChr', '(')}{between}{_property(element, 'endChr', ')')}"


def _rows(element: etree._Element) -> str:
    rows = (
        ", ".join(map(_inside, row.iterchildren(f"{M}e"))) for row in element.iterchildren(f"{M}mr")
    )
    return f"[{'; '.join(rows)}]"


def _limit(element: etree._Element) -> str:
    sign = "^" if element.tag == f"{M}limUpp" else "_"
    return f"{_part(element, 'e')}{sign}{_bound(_part(element, 'lim'))}"


def _function(element: etree._Element) -> str:
    of = _part(element, "e")
    return f"{_part(element, 'fName')}{of if of.startswith('(') else f'({of})'}"


_FORMS: Mapping[str, Callable[[etree._Element], str]] = {
    "f": _fraction, "sSup": _scripts, "sSub": _scripts, "sSubSup": _scripts, "sPre": _scripts,
    "nary": _sum, "rad": _root, "d": _brackets, "m": _rows, "limLow": _limit, "limUpp": _limit,
    "func": _function,
}  # fmt: skip
