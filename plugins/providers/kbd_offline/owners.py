"""Owners of columns in a request: "customer segment", "Name des Kunden", "Bestellwert". Pure.

A word that only says of which table a column is, beside that column, is taken out; a compound of
both becomes the column.
"""

from collections.abc import Sequence

import msgspec

from kbd_offline.evident_keys import things
from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.mentions import PART, STEM
from kbd_offline.names import stem, tokens
from kbd_offline.request_tokens import RequestToken
from kbd_offline.table_scan import TablesScan, is_word, same_deed

__all__ = ["without_owners"]

_LINKS = ("ungs", "ung", "s", "n", "en", "er", "")
_ENDINGS = ("ungen", "ung", "en", "e", "s")


def without_owners(scan: TablesScan) -> tuple[RequestToken, ...]:
    """Return the tokens of a request without words for the owner of the column beside them."""
    found: list[RequestToken] = []
    for place, token in enumerate(scan.tokens):
        column = _compound(scan, token.word) if token.kind == "word" else None
        column = column or _money(scan, place)
        if column is not None:
            found.append(
                msgspec.structs.replace(token, kind="quoted", text=column.name, word="\x02")
            )
        elif token.kind != "word" or not (
            _is_owner(scan, place) or _is_deed(scan, place) or _money(scan, place - 1)
        ):
            found.append(token)
    return tuple(_rank_first(found))


def _rank_first(found: Sequence[RequestToken]) -> list[RequestToken]:
    """Return "5 customers with the highest amount" as "top 5 customers by amount"."""
    for place, token in enumerate(found):
        if token.word not in ("with", "mit"):
            continue
        behind = place + 1
        while behind < len(found) and is_word(found[behind].word, "article"):
            behind += 1
        word = found[behind].word if behind < len(found) else ""
        near = range(place - 1, max(place - 4, -1), -1)
        first = next((at for at in near if found[at].kind == "number"), place - 1)
        if first >= place - 1 or not is_word(word, "best", "worst"):
            continue
        top = "top" if is_word(word, "best") else "bottom"
        way = msgspec.structs.replace(found[first], kind="word", word=top)
        by = msgspec.structs.replace(token, word="by")
        return [*found[:first], way, *found[first:place], by, *found[behind + 1 :]]
    return list(found)


def _owner(scan: TablesScan, place: int) -> KnownTable | None:
    """Return the table whose rows are called by a word."""
    if scan.kind(place) != "word":
        return None
    word = stem(scan.word(place).removesuffix("'s").removesuffix("s'"))
    found = [one for one in scan.tables if word in {stem(name) for name in things(one)}]
    return found[0] if len(found) == 1 else None


def _has_column(scan: TablesScan, table: KnownTable, place: int) -> bool:
    mention = scan.against(table).column(place)
    return mention is not None and mention.level <= PART


def _is_owner(scan: TablesScan, place: int) -> bool:
    """Tell whether a word only says of which table the column beside it is."""
    owner, whole = _owner(scan, place), scan.column(place)
    if owner is None or (whole is not None and whole.end > place + 1 and whole.level <= STEM):
        return False
    if _has_column(scan, owner, place + 1) and not scan.at(place + 1, "by"):
        return True
    before = place - 1
    while scan.at(before, "owner_of"):
        before -= 1
    is_led = before < place - 1 and scan.word(place - 1) not in ("each", "every", "jeder")
    return is_led and before >= 0 and _has_column(scan, owner, before)


def _is_deed(scan: TablesScan, place: int) -> bool:
    """Tell whether a verb only says once more what a table is of: "amount ordered"."""
    word = scan.word(place)
    if not place or not word.endswith(("ed", "t")) or scan.word(place + 1) in ("by", "nach"):
        return False
    for table in scan.tables:
        nouns = {stem(noun) for noun in things(table)}
        if _has_column(scan, table, place - 1) and stem(word) not in nouns:
            return same_deed(word, things(table))
    return False


def _compound(scan: TablesScan, word: str) -> KnownColumn | None:
    """Return the column that a compound with its table's name means: "Kundenort"."""
    if scan.vocabulary.knows(word) and any(
        word in tokens(column.name) for column in scan.table.columns
    ):
        return None
    for table in scan.tables:
        for thing in things(table):
            root = _root(thing)
            if len(root) < 5 or not word.startswith(root) or word == thing:
                continue
            rest = word.removeprefix(root)
            for link in _LINKS:
                if not rest.startswith(link) or len(rest) - len(link) < 3:
                    continue
                found = _called(table, rest.removeprefix(link))
                if found is not None:
                    return found
    return None


def _money(scan: TablesScan, place: int) -> KnownColumn | None:
    """Return the amounts of a table that "order value" at a place means."""
    owner = _owner(scan, place)
    if owner is None or not scan.at(place + 1, "money_noun"):
        return None
    return None if _has_column(scan, owner, place + 1) else _amounts(owner)


def _root(thing: str) -> str:
    for ending in _ENDINGS:
        if thing.endswith(ending) and len(thing) - len(ending) >= 5:
            return thing.removesuffix(ending)
    return thing


def _called(table: KnownTable, word: str) -> KnownColumn | None:
    """Return the column of a table whose whole name a word is; of a word for money the amounts."""
    named = [c for c in table.columns if [stem(w) for w in tokens(c.name)] == [stem(word)]]
    if len(named) == 1:
        return named[0]
    return _amounts(table) if is_word(word, "money_noun") else None


def _amounts(table: KnownTable) -> KnownColumn | None:
    """Return the only column of a table that adds up and is no count; None for several."""
    sums = [column for column in table.columns if column.adds_up]
    broken = [column for column in sums if column.type == "float"]
    found = sums if len(sums) == 1 else broken
    return found[0] if len(found) == 1 else None
