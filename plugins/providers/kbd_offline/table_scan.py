"""Scan of a request about several tables: which of them a place speaks of. Pure."""

import copy
from collections.abc import Sequence
from datetime import date
from typing import Self

from kbd_offline.evident_keys import table_words, thing_meanings, things
from kbd_offline.facts import KnownTable
from kbd_offline.lexicon import LEXICON, TABLE_LEXICON
from kbd_offline.mentions import SAME
from kbd_offline.names import singular, stem, tokens
from kbd_offline.request_tokens import RequestToken
from kbd_offline.scan import RequestScan

__all__ = ["TablesScan", "is_word", "same_deed"]


class TablesScan(RequestScan):
    """A request against the columns of several tables, of which two may face each other.

    Args:
        request: Its text.
        request_tokens: Its tokens.
        tables: The tables.
        today: The day that "last month" goes by.
    """

    def __init__(
        self,
        request: str,
        request_tokens: Sequence[RequestToken],
        tables: Sequence[KnownTable],
        today: date,
    ) -> None:
        columns = {column.name: column for table in reversed(tables) for column in table.columns}
        every = KnownTable("tables", columns=tuple(columns.values()))
        super().__init__(request, request_tokens, every, today)
        self._ends = [TABLE_LEXICON.ends(self._words, at) for at in range(len(self._words))]
        self._against: dict[str, RequestScan] = {}
        self.tables = list(tables)
        self.left: KnownTable = tables[0]
        self.right: KnownTable = tables[1]

    def facing(self, left: KnownTable, right: KnownTable) -> Self:
        """Return it with rows of a left table that are looked for in a right one."""
        found = copy.copy(self)
        found.left, found.right = left, right
        return found

    def rewritten_as(self, request_tokens: Sequence[RequestToken]) -> "TablesScan":
        """Return the scan of other tokens against the same tables."""
        return TablesScan(self.request, request_tokens, self.tables, self.today)

    def against(self, table: KnownTable) -> RequestScan:
        """Return the request against one of the tables."""
        if table.label not in self._against:
            alone = RequestScan(self.request, self.tokens, table, self.today)
            self._against[table.label] = alone
        return self._against[table.label]

    def has(self, *concepts: str) -> bool:
        """Tell whether a phrase of some concepts stands anywhere."""
        return any(self.at(place, *concepts) for place in range(len(self)))

    def has_file(self, end: int | None = None) -> bool:
        """Tell whether a file is named, perhaps before a place."""
        return any(token.kind == "file" for token in self.tokens[:end])

    def named(self, place: int) -> KnownTable | None:
        """Return the table whose file stands at a place, or whose name is a word there."""
        if self.kind(place) == "file":
            path = self.tokens[place].text
            return next((table for table in self.tables if table.path == path), None)
        if self.kind(place) != "word":
            return None
        word = stem(self.word(place))
        found = [one for one in self.tables if word in {stem(name) for name in table_words(one)}]
        return found[0] if len(found) == 1 else None

    def named_by_year(self, place: int) -> KnownTable | None:
        """Return the table whose file has the year at a place in its name, and no other's has."""
        year = self.word(place)
        if self.kind(place) != "number" or len(year) != 4:
            return None
        found = [one for one in self.tables if year in tokens(one.path)]
        return found[0] if len(found) == 1 else None

    def calls(self, table: KnownTable, place: int) -> bool:
        """Tell whether a word says what the rows of a table are called."""
        if self.kind(place) != "word":
            return False
        word = _plain(self.word(place))
        meanings = LEXICON.meanings.get(singular(word)) or LEXICON.meanings.get(word, frozenset())
        is_name = stem(word) in {stem(one) for one in things(table)}
        return is_name or bool(meanings & thing_meanings(table))

    def means_rows(self, table: KnownTable, place: int) -> bool:
        """Tell whether a word means a table or its rows, and no column that is called just so."""
        if self.named(place) is table:
            return True
        mention = self.against(table).column(place)
        return self.calls(table, place) and (mention is None or mention.level > SAME)


def same_deed(word: str, nouns: Sequence[str]) -> bool:
    """Tell whether a word speaks of what a table is called by: "ordered" of orders."""
    stems = {stem(noun) for noun in nouns}
    deeds = LEXICON.deeds.get(stem(word), frozenset())
    return stem(word) in stems or any(deeds & LEXICON.deeds.get(one, frozenset()) for one in stems)


def is_word(word: str, *concepts: str) -> bool:
    """Tell whether a folded word is a phrase of some concepts."""
    return not TABLE_LEXICON.ends((word,), 0).keys().isdisjoint(concepts)


def _plain(word: str) -> str:
    return word.removesuffix("'s").removesuffix("s'")
