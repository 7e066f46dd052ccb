"""Signs of fonts that have pictures for letters, as the signs that all fonts have.

Word keeps such a sign as a code of 0xF000 and up, with the font's name. Only signs that carry a
meaning in a text are named here; of others the font and the code are told.
"""

__all__ = ["sign"]

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
_MOST_CODE = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)
_SHOWN_CHARS = 40


def sign(font: str, code: str) -> str:
    """Return a sign as plain text; of one that is not known its font and code.

    Args:
        font: The name of the font.
        code: Its place there, in hexadecimal digits.
    """
    try:
        place = int(code[:8], 16)
    except ValueError:
        return ""
    signs = _FONTS.get(font.casefold())
    at = place - _PRIVATE.start if place in _PRIVATE else place
    if signs is not None and at in signs:
        return signs[at]
    if signs is _SYMBOL and at in _ASCII:
        return chr(at)
    if place in _PRIVATE or signs is not None:
        return f"[symbol: {font[:_SHOWN_CHARS]} {place:04X}]"
    return chr(place) if 0 < place <= _MOST_CODE and place not in _SURROGATES else ""
