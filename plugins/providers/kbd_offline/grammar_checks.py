"""Checks of what was read: no word passed over, no sign of amounts guessed. Pure."""

from kbd_offline.clauses import Clauses
from kbd_offline.mentions import PART
from kbd_offline.scan import Scan, SeveralError, UnclearError, quoted

__all__ = ["UNKNOWN", "check_signs", "check_unknown"]

UNKNOWN = "I do not know what to make of"
"""How the reason begins that words were not understood."""


_REFUSED = (
    ("chart", "draw charts"), ("translate", "translate"), ("prose", "write or sum up texts"),
    ("forecast", "work that out"), ("style", "style sheets as asked"),
    ("documents", "make or edit a document"), ("money_change", "change currencies"),
)  # fmt: skip


_SPENDING = frozenset(
    [
        "spend",
        "spending",
        "spent",
        "expense",
        "expenses",
        "cost",
        "costs",
        "ausgabe",
        "ausgaben",
        "kosten",
        "income",
        "earnings",
        "earned",
        "einnahme",
        "einnahmen",
        "outgoings",
        "paid",
    ]
)


def check_signs(scan: Scan, clauses: Clauses) -> None:
    """Check that what was spent is not taken for a sum of what came in as well.

    Raises:
        SeveralError: A column has amounts of both signs, and the words speak of one.
    """
    signed = [c for c in scan.table.columns if c.adds_up and c.minimum.startswith("-") and (
        c.maximum[:1].isdigit() and float(c.maximum) > 0
    )]  # fmt: skip
    for place in range(len(scan) if len(signed) == 1 else 0):
        column, mention = signed[0], scan.column(place)
        if scan.word(place) not in _SPENDING or (mention is not None and mention.level <= PART):
            continue
        value = scan.value(place)
        by_sign = any(column in one.columns for one in clauses.conditions)
        if by_sign or value is not None:
            continue
        request, name = scan.request.rstrip(" .?!"), quoted(column.name)
        raise SeveralError(
            f'"{column.name}" holds amounts of both signs: those below 0 only, above 0, or all',
            [
                f"{scan.rewritten(place, place + 1, name).rstrip(' .?!')} where {name} < 0",
                f"{scan.rewritten(place, place + 1, name).rstrip(' .?!')} where {name} > 0",
                scan.rewritten(place, place + 1, name) if request else "",
            ],
        )


def check_unknown(scan: Scan, clauses: Clauses) -> None:
    """Check that nothing was passed over.

    Raises:
        UnclearError: Something was.
    """
    for place in range(len(scan)):
        for concept, what in _REFUSED:
            end = scan.at(place, concept)
            if any(place <= one < end for one in clauses.unknown):
                raise UnclearError(f'I cannot {what} ("{scan.text(place, end)}")')
    words = [scan.tokens[place].text for place in clauses.unknown]
    if words:
        named = ", ".join(f'"{word}"' for word in dict.fromkeys(words))
        raise UnclearError(f"{UNKNOWN} {named}")
