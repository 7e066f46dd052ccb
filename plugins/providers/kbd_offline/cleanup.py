"""Tidying that a request asks for: one spelling for each value, and each value only once. Pure."""

from collections.abc import Sequence

from kbd_offline import expressions
from kbd_offline.clauses import Clauses, DeriveClause
from kbd_offline.facts import KnownColumn
from kbd_offline.mentions import PART
from kbd_offline.pair_words import word_set
from kbd_offline.scan import RequestScan, UnclearError

__all__ = ["each_once", "unified"]

_UNIFY = word_set(
    "unify standardize standardise normalize normalise harmonize harmonise vereinheitliche "
    "vereinheitlichen"
)  # fmt: skip
_MAKE = word_set("make write spell mache machen schreibe schreiben")
_UNIFORM = word_set("uniform uniformly consistent consistently einheitlich vereinheitlichen")
_SPELLING = word_set(
    "spelling spellings names values capitalization case of schreibweise schreibweisen "
    "werte der des von in the die den vom"
)  # fmt: skip
_UNIQUE = word_set("unique distinct different eindeutige verschiedene")
_EACH = word_set("each every jeweils je jede jeder jedes only just nur")
_MAX_SPELLINGS = 60


def unified(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "make the region names uniform", "Status einheitlich schreiben"; 0 where it is none.

    Raises:
        UnclearError: The values of a column are not all known.
    """
    word = scan.word(place)
    leads = word in _UNIFY or word in _MAKE
    at = place + 1 if leads else place
    while leads and scan.word(at) in _SPELLING:
        at += 1
    mentions, end = scan.column_list(at)
    if not mentions or any(mention.level > PART for mention in mentions):
        return 0
    while scan.word(end) in ("spelling", "spellings", "names", "values", "schreibweise", "werte"):
        end += 1
    if word not in _UNIFY:
        if scan.word(end) not in _UNIFORM:
            return 0
        end += 1
        while scan.word(end) in _MAKE:
            end += 1
    columns = [scan.only(mention, lambda one: one.is_text) for mention in mentions]
    if not all(column.is_text for column in columns):
        return 0
    for column in columns:
        _unify(clauses, column)
    return end


def _unify(clauses: Clauses, column: KnownColumn) -> None:
    if not column.is_listed:
        raise UnclearError(f'"{column.name}" has more values than I look at one by one')
    groups: dict[str, dict[str, int]] = {}
    for value, count in column.values.items():
        groups.setdefault(" ".join(value.split()).casefold(), {})[value] = count
    several = [some for some in groups.values() if len(some) > 1]
    if sum(map(len, several)) > _MAX_SPELLINGS:
        raise UnclearError(f'"{column.name}" has more spellings than fit into one job')
    name = expressions.column(column.name)
    if not several:
        clauses.notes.append(f'"{column.name}" has one spelling of each value already')
        clauses.derived.append(DeriveClause(column.name, name, f"{column.name} as it is"))
        return
    whens: list[str] = []
    for some in several:
        # Of several that are there as often, the one with a capital alone in front.
        best = max(some, key=lambda value: (some[value], value.istitle(), value))
        others = ", ".join(expressions.literal(value) for value in some if value != best)
        whens.append(f"when {name} in ({others}) then {expressions.literal(best)}")
    text = f"{column.name} with the spelling that is there most often"
    made = f"case {' '.join(whens)} else {name} end"
    clauses.derived.append(DeriveClause(column.name, made, text))


def each_once(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "unique emails only", or ", each once" behind columns; 0 where it is none."""
    start = place + 1 if scan.word(place) in ("only", "nur") else place
    if scan.word(start) in _UNIQUE:
        mentions, end = scan.column_list(start + 1)
        is_only = start > place or scan.at(end, "only")
        if mentions and is_only and all(mention.level <= PART for mention in mentions):
            clauses.unique_list = tuple(scan.only(mention, is_key=True) for mention in mentions)
            return end if start > place else end + 1
    end = _once(scan, place)
    if not end:
        return 0
    chosen: Sequence[KnownColumn] = clauses.unique_list or clauses.selected or [
        column for column, _, is_weak in clauses.loose if not is_weak
    ]  # fmt: skip
    if not chosen:
        return 0
    clauses.unique_list = tuple(chosen)
    clauses.selected.clear()
    clauses.loose.clear()
    return end


def _once(scan: RequestScan, place: int) -> int:
    """Return where "each once", "jeweils nur einmal" ends, 0 where it does not stand."""
    at = place
    while scan.word(at) in _EACH:
        at += 1
    if at > place and scan.word(at) in ("once", "einmal"):
        return at + 1
    return 0
