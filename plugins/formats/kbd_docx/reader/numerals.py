"""Counts as lists write them: letters, Roman numbers, ordinals."""

__all__ = ["numeral"]

_ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
    (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip
_MOST_ROMAN = 3999
_LETTERS = 26
_MOST_LETTERS = 30
"""After z comes aa, then bbb; nobody reads more."""


def numeral(count: int, form: str) -> str:
    """Return a count in a form of ECMA-376, part 1, 17.18.59; in digits where that is not known."""
    match form:
        case "decimalZero":
            return f"{count:02}"
        case "lowerLetter" | "upperLetter":
            text = _letters(count)
        case "lowerRoman" | "upperRoman":
            text = _roman(count)
        case "ordinal":
            return f"{count}{_ending(count)}"
        case "none":
            return ""
        case _:
            return str(count)
    return text.upper() if form.startswith("upper") else text.lower()


def _letters(count: int) -> str:
    if not 1 <= count <= _LETTERS * _MOST_LETTERS:
        return str(count)
    times, place = divmod(count - 1, _LETTERS)
    return chr(ord("a") + place) * (times + 1)


def _roman(count: int) -> str:
    if not 1 <= count <= _MOST_ROMAN:
        return str(count)
    text = ""
    for value, letters in _ROMAN:
        times, count = divmod(count, value)
        text += letters * times
    return text


def _ending(count: int) -> str:
    if count % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
