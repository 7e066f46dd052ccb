"""Order of values in a sort, as Excel has it: numbers, texts, false, true, errors, blanks last.

Texts are compared without case and without hyphens and apostrophes, signs before digits before
letters, letters with accents beside those without. Equal rows stay in their order.
"""

import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache

import msgspec

__all__ = ["CellOrder", "sorted_rows"]

TextKey = tuple[tuple[tuple[int, str], ...], tuple[tuple[int, str], ...], int]


class CellOrder(msgspec.Struct, frozen=True, order=True):
    """Place of a value in the order; those of equal rank are compared by their value.

    Args:
        rank: 0 for numbers, 1 for texts, 2 for booleans, 3 for errors.
        number: A number or a boolean.
        text: The key of a text.
    """

    rank: int
    number: float = 0.0
    text: TextKey = ((), (), 0)

    @classmethod
    def of(cls, kind: str, value: str) -> "CellOrder | None":
        """Return the place of a value, None for a blank.

        Args:
            kind: "number", "text", "boolean" or "error".
            value: As it is stored; the text itself for a text.
        """
        match kind:
            case "number":
                return cls(0, float(value)) if value else None
            case "boolean":
                return cls(2, float(value in ("1", "true")))
            case "error":
                return cls(3)
            case _:
                return cls(1, text=_text_key(value))


def sorted_rows(
    rows: Sequence[int],
    keys: Sequence[tuple[Callable[[int], CellOrder | None], bool]],
) -> list[int]:
    """Return rows in their new order.

    Args:
        rows: Their numbers.
        keys: What gives the place of a row, and whether it descends; the first counts most.
    """
    found = list(rows)
    # The last key first: a stable sort by the first one keeps the order of the others.
    for place, descends in reversed(keys):
        orders = {row: place(row) for row in found}
        filled = [row for row in found if orders[row] is not None]
        blank = [row for row in found if orders[row] is None]
        filled.sort(key=lambda row: orders[row] or CellOrder(3), reverse=descends)
        found = filled + blank
    return found


@lru_cache(maxsize=65_536)
def _text_key(text: str) -> TextKey:
    folded = unicodedata.normalize("NFKD", text.casefold())
    base = "".join(sign for sign in folded if not unicodedata.combining(sign))
    plain = base.replace("-", "").replace("'", "")
    return _signs(plain), _signs(folded), len(base) - len(plain)


def _signs(text: str) -> tuple[tuple[int, str], ...]:
    return tuple((2 if sign.isalpha() else 1 if sign.isdigit() else 0, sign) for sign in text)
