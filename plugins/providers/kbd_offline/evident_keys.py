"""Evident keys: by which columns the rows of two tables belong together. Pure."""

from collections.abc import Iterator

from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.lexicon import LEXICON
from kbd_offline.names import singular, split_suffix, stem, tokens

__all__ = [
    "column_of", "has_column", "is_unique", "key_pairs", "shared_key", "table_words",
    "thing_meanings", "things",
]  # fmt: skip

_NUMBERING = frozenset(["id", "no", "nr", "num", "number", "nummer", "key", "code", "kennung"])
_ENDINGS = ("nummer", "nr", "code", "id")


def table_words(table: KnownTable) -> tuple[str, ...]:
    """Return the words of what a table is called: of its sheet's name, else of its file's."""
    return tokens(table.sheet or split_suffix(table.path.rpartition("/")[2])[0])


def things(table: KnownTable) -> tuple[str, ...]:
    """Return what the rows of a table are called: by its names, and by what numbers them."""
    file = tokens(split_suffix(table.path.rpartition("/")[2])[0])
    found = [word for word in (*table_words(table), *file) if not word.isdigit()]
    for column in table.columns:
        words = _key_words(column.name)
        if len(words) == 2 and words[1] == "id" and is_unique(column, table):
            found.append(words[0])
    return tuple(dict.fromkeys(found))


def is_unique(column: KnownColumn, table: KnownTable) -> bool:
    """Tell whether each row of a table has a value of its own in a column."""
    return column.distinct == table.rows == column.filled and table.rows > 0


def column_of(table: KnownTable, name: str) -> KnownColumn:
    """Return the column of a name, whatever its case and signs; there must be one."""
    return next(column for column in table.columns if tokens(column.name) == tokens(name))


def has_column(table: KnownTable, name: str) -> bool:
    """Tell whether a table has a column of a name, whatever its case and signs."""
    return any(tokens(column.name) == tokens(name) for column in table.columns)


def key_pairs(left: KnownTable, right: KnownTable) -> list[tuple[KnownColumn, KnownColumn]]:
    """Return the columns of a table that tell a row of another: a key of that, under one name.

    Several are returned where several may be meant.
    """
    pairs = [
        (mine, theirs)
        for theirs in right.columns
        if is_unique(theirs, right)
        for mine in left.columns
        if _key_words(mine.name) == _key_words(theirs.name) and _may_agree(mine, theirs)
    ]
    ids = [pair for pair in pairs if pair[1].role == "id" or "id" in _key_words(pair[1].name)]
    pairs = ids if len(ids) == 1 else pairs
    return pairs or list(_foreign(left, right))


def shared_key(left: KnownTable, right: KnownTable) -> list[KnownColumn]:
    """Return the columns that are unique in both of two lists; the first of both goes alone."""
    found = [
        column
        for column in left.columns
        if has_column(right, column.name)
        and is_unique(column, left)
        and is_unique(column_of(right, column.name), right)
        and (not column.is_number or column.role == "id" or column.type == "integer")
    ]
    ids = [one for one in found if one.role == "id" or "id" in _key_words(one.name)]
    if len(ids) == 1:
        return ids
    first = left.columns[:1], right.columns[:1]
    if found and all(tokens(some[0].name) == tokens(found[0].name) for some in first):
        return found[:1]
    return found


def _foreign(left: KnownTable, right: KnownTable) -> Iterator[tuple[KnownColumn, KnownColumn]]:
    """Yield keys that are called by the other table: `customer_id` for the `id` of customers."""
    thing = {stem(word) for word in things(right)}
    for theirs in right.columns:
        if not is_unique(theirs, right):
            continue
        own = _key_words(theirs.name)
        for mine in left.columns:
            words = _key_words(mine.name)
            before = {stem(word) for word in words[: -len(own)]}
            is_called = words[-len(own) :] == own and before & thing
            is_thing = {stem(word) for word in words} <= thing and "id" not in own
            if (is_called or (is_thing and own == ("name",))) and _may_agree(mine, theirs):
                yield mine, theirs


def _may_agree(mine: KnownColumn, theirs: KnownColumn) -> bool:
    """Tell whether two columns may hold the same: of one kind, with values in common."""
    if mine.is_number != theirs.is_number or mine.is_moment != theirs.is_moment:
        return False
    if mine.type == "float":
        return False
    if mine.is_listed and theirs.is_listed:
        others = {value.strip().casefold() for value in theirs.values}
        return any(value.strip().casefold() in others for value in mine.values)
    return True


def _key_words(name: str) -> tuple[str, ...]:
    """Return the words of a name, with one for all that numbers: "Kunden-Nr", "Kundennummer"."""
    found: list[str] = []
    for word in tokens(name):
        if word in _NUMBERING:
            found.append("id")
            continue
        ending = next((e for e in _ENDINGS if word.endswith(e) and len(word) - len(e) >= 4), "")
        found += [stem(singular(word.removesuffix(ending))), "id"] if ending else [stem(word)]
    return tuple(found)


def thing_meanings(table: KnownTable) -> frozenset[str]:
    """Return what the rows of a table may be, whatever the word for it."""
    words = (singular(word) for word in things(table))
    return _THINGS & {one for word in words for one in LEXICON.meanings.get(word, ())}


_THINGS = frozenset(("customer", "supplier", "product", "person", "order", "invoice"))
