"""Checks of what was read: no word passed over, no sign of amounts guessed. Pure."""

import msgspec

from kbd.jobs.records import Aggregate
from kbd_offline.clauses import Clauses, condition_on
from kbd_offline.expressions import compared
from kbd_offline.facts import KnownColumn
from kbd_offline.lexicon import LEXICON
from kbd_offline.mentions import PART
from kbd_offline.names import tokens
from kbd_offline.scan import RequestScan, SeveralError, UnclearError, cued, is_cue, quoted

__all__ = ["UNKNOWN", "check_signs", "check_unknown", "check_value_word"]

UNKNOWN = "I do not know what to make of"
"""How the reason begins that words were not understood."""

_REFUSED = (
    ("chart", "draw charts"), ("translate", "translate"), ("prose", "write or sum up texts"),
    ("forecast", "work that out"), ("style", "style sheets as asked"),
    ("documents", "make or edit a document"), ("money_change", "change currencies"),
)  # fmt: skip
_LEAST_LETTERS = 3


def check_signs(scan: RequestScan, clauses: Clauses) -> None:
    """Check that what was spent is not taken for a sum of what came in as well.

    Raises:
        SeveralError: A column has amounts of both signs, and the words speak of one.
    """
    signed = [c for c in scan.table.sums if c.minimum.startswith("-") and (
        c.maximum[:1].isdigit() and float(c.maximum) > 0
    )]  # fmt: skip
    if len(signed) != 1 or any(signed[0] in one.columns for one in clauses.conditions):
        return
    column, name = signed[0], quoted(signed[0].name)
    for place in cued(scan, "spending"):
        mention = scan.column(place)
        if (mention is not None and mention.level <= PART) or scan.value(place) is not None:
            continue
        if sign := _sign_of_account(scan, place):
            _only_sign(clauses, column, sign)
            return
        named = scan.rewritten(place, place + 1, name)
        raise SeveralError(
            f'"{column.name}" holds amounts of both signs: those below 0 only, above 0, or all',
            [*(f"{named.rstrip(' .?!')} where {name} {sign} 0" for sign in "<>"), named],
        )


def _sign_of_account(scan: RequestScan, place: int) -> str:
    """Return the sign of what is spent or comes in, in a bank account; "" in other tables."""
    names = [scan.table.path.rpartition("/")[2].rpartition(".")[0], scan.table.sheet]
    names += [column.name for column in scan.table.columns]
    words = {word for name in names for word in tokens(name)}
    if not words & LEXICON.cues["account"] or scan.is_noun(place):
        return ""
    return ">" if is_cue(scan, place, "coming_in") else "<"


def _only_sign(clauses: Clauses, column: KnownColumn, sign: str) -> None:
    """Narrow a request down to what an account lost, or got: the largest expense is the least."""
    way = "under" if sign == "<" else "over"
    expression = compared(column.name, sign, "0")
    clauses.conditions.append(condition_on(column, expression, f"is {way} 0", f"{way}-0"))
    if sign == ">":
        return
    # The smallest expense is the one nearest to nothing.
    swapped: dict[str, Aggregate] = {"minimum": "maximum", "maximum": "minimum"}
    clauses.figures = [
        msgspec.structs.replace(one, function=swapped.get(one.function, one.function))
        if one.column in (None, column) else one
        for one in clauses.figures
    ]  # fmt: skip
    rank = clauses.rank
    if rank is not None and rank.by in (None, column) and rank.figure is None:
        clauses.rank = msgspec.structs.replace(rank, by=column, descending=not rank.descending)


def check_unknown(scan: RequestScan, clauses: Clauses) -> None:
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


def check_value_word(scan: RequestScan, place: int) -> None:
    """Check that a word which may mean nothing, or a figure, is no value: the department Sales.

    Raises:
        SeveralError: It is one, and nothing tells which is meant.
    """
    found = scan.value(place)
    if found is None or scan.kind(place) != "word":
        return
    text = scan.text(place, found.end)
    named = [(column, values) for column, values in found.found if column.is_text]
    is_spelt = place > 0 and text.isupper() and any(text in values for _, values in named)
    if not named or not (len(text) >= _LEAST_LETTERS or is_spelt):
        return
    raise SeveralError(
        f'"{text}" may be a value of {named[0][0].name}',
        [scan.rewritten(place, found.end, f"where {quoted(c.name)} is {text}") for c, _ in named],
    )
