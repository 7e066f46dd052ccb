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
from kbd_offline.pair_words import MONEY, same_family, word_set
from kbd_offline.request_tokens import RequestToken
from kbd_offline.scan import RequestScan

__all__ = ["without_owners"]

_OF = word_set("of des der von vom the each every jedes jeder")
_WITH = word_set("with mit")
_THE = word_set("the dem den der die das")
_HIGHEST = word_set(
    "highest largest biggest greatest most hochsten hochstem großten großtem meisten"
)
_LOWEST = word_set("lowest smallest least niedrigsten geringsten kleinsten wenigsten")
_LINKS = ("ungs", "ung", "s", "n", "en", "er", "")
_ENDINGS = ("ungen", "ung", "en", "e", "s")


def without_owners(scan: RequestScan, tables: Sequence[KnownTable]) -> tuple[RequestToken, ...]:
    """Return the tokens of a request without words for the owner of the column beside them.

    Args:
        scan: The request against the columns of all tables.
        tables: Them.
    """
    reader = _Owners(scan, tables)
    found: list[RequestToken] = []
    for place, token in enumerate(scan.tokens):
        if token.kind != "word":
            found.append(token)
            continue
        column = reader.compound(token.word)
        if column is not None:
            found.append(_quoted(token, column))
        elif (money := reader.money(place)) is not None:
            found.append(_quoted(token, money))
        elif not (
            reader.is_owner(place) or reader.is_deed(place) or reader.money(place - 1) is not None
        ):
            found.append(token)
    return tuple(_rank_first(found))


def _rank_first(found: Sequence[RequestToken]) -> list[RequestToken]:
    """Return "5 customers with the highest amount" as "top 5 customers by amount"."""
    for place, token in enumerate(found):
        if token.word not in _WITH or place < 2:
            continue
        behind = place + 1
        while behind < len(found) and found[behind].word in _THE:
            behind += 1
        near = range(place - 1, max(place - 4, -1), -1)
        first = next((at for at in near if found[at].kind == "number"), None)
        word = found[behind].word if behind < len(found) else ""
        if first is None or first == place - 1 or not (word in _HIGHEST or word in _LOWEST):
            continue
        way = msgspec.structs.replace(
            found[first], kind="word", word="top" if word in _HIGHEST else "bottom"
        )
        by = msgspec.structs.replace(token, word="by")
        return [*found[:first], way, *found[first:place], by, *found[behind + 1 :]]
    return list(found)


def _quoted(token: RequestToken, column: KnownColumn) -> RequestToken:
    return msgspec.structs.replace(token, kind="quoted", text=column.name, word="\x02")


class _Owners:
    def __init__(self, scan: RequestScan, tables: Sequence[KnownTable]) -> None:
        self._scan = scan
        self._tables = tables
        self._scans = [
            RequestScan(scan.request, scan.tokens, table, scan.today) for table in tables
        ]
        self._things = [{stem(word) for word in things(table)} for table in tables]

    def _owner(self, place: int) -> int | None:
        """Return which table's rows are called by a word."""
        if self._scan.kind(place) != "word":
            return None
        word = stem(self._scan.word(place).removesuffix("'s").removesuffix("s'"))
        found = [at for at, names in enumerate(self._things) if word in names]
        return found[0] if len(found) == 1 else None

    def is_owner(self, place: int) -> bool:
        """Tell whether a word only says of which table the column beside it is."""
        owner = self._owner(place)
        if owner is None:
            return False
        whole = self._scan.column(place)
        if whole is not None and whole.end > place + 1 and whole.level <= STEM:
            return False
        behind = self._scans[owner].column(place + 1)
        if behind is not None and behind.level <= PART and not self._scan.at(place + 1, "by"):
            return True
        at = place - 1
        while self._scan.word(at) in _OF:
            at -= 1
        if at == place - 1 or at < 0 or self._scan.word(place - 1) in ("each", "every", "jeder"):
            return False
        before = self._scans[owner].column(at)
        return before is not None and before.level <= PART

    def is_deed(self, place: int) -> bool:
        """Tell whether a verb only says once more what a table is of: "amount ordered"."""
        word = self._scan.word(place)
        if self._scan.kind(place) != "word" or self._scan.word(place + 1) in ("by", "nach"):
            return False
        for scan, table in zip(self._scans, self._tables, strict=True):
            before = scan.column(place - 1) if place else None
            nouns = {stem(noun) for noun in things(table)}
            is_verb = word.endswith(("ed", "t")) and stem(word) not in nouns
            if before is not None and before.level <= PART and is_verb:
                return same_family(word, things(table))
        return False

    def compound(self, word: str) -> KnownColumn | None:
        """Return the column that a compound with its table's name means: "Kundenort"."""
        if self._scan.vocabulary.knows(word) and any(
            word in tokens(column.name) for column in self._scan.table.columns
        ):
            return None
        for table in self._tables:
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

    def money(self, place: int) -> KnownColumn | None:
        """Return the amounts of a table that "order value" at a place means."""
        owner = self._owner(place)
        if owner is None or self._scan.word(place + 1) not in MONEY:
            return None
        if self._scans[owner].column(place + 1) is not None:
            mention = self._scans[owner].column(place + 1)
            if mention is not None and mention.level <= PART:
                return None
        return _amounts(self._tables[owner])


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
    return _amounts(table) if word in MONEY else None


def _amounts(table: KnownTable) -> KnownColumn | None:
    """Return the only column of a table that adds up and is no count; None for several."""
    sums = [column for column in table.columns if column.adds_up]
    broken = [column for column in sums if column.type == "float"]
    found = sums if len(sums) == 1 else broken
    return found[0] if len(found) == 1 else None
