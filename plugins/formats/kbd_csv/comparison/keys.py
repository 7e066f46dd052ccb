"""Key of a table: the columns by whose values rows of two versions are the same row.

Named columns are taken as they are, and must identify each row. Else a column is found: first one
whose name is that of a key (id, key, code, number, sku, email and such), from the left; then the
leftmost column. Its values must be filled and occur once among the first rows of each version, and
among those that differ.
"""

import re
import time
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from kbd.errors import ValidationFailed
from kbd.plaintext.stretches import Stretch
from kbd_csv.comparison.columns import Columns
from kbd_csv.comparison.version import Row, TableVersion, read_rows, table_rows

__all__ = ["RowKey", "check_key", "find_key", "named_key"]

CHECKED_ROWS = 50_000
"""Rows of each version, from the first, in which a key that was found must be unique."""

MAX_CHECK_SECONDS = 3
"""How long a version is searched for rows with the same named key; of a file of 50 MB all is."""

_KEY_NAME = re.compile(
    r"(^|[\W_])(id|ids|key|code|nr|no|num|number|nummer|sku|email|e-mail|isbn|ean|gtin|iban|uuid"
    r"|guid|ref|reference|symbol|ticker|username|login)$|(ID|Id|Key|Code|Nr|No|Number)$|^#$",
)
"""Names as people write them: "Customer ID", "order_no", "customerId", "Nr."."""


class RowKey(NamedTuple):
    """Columns of both versions by whose values rows are paired.

    Args:
        before: Their places in the version before.
        after: Their places in the version after.
        name: Their names, for people.
        is_named: Whether the caller named them.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]
    name: str
    is_named: bool

    def value(self, row: Sequence[str], *, is_after: bool) -> tuple[str, ...]:
        """Return the values of a row; without those at the end that it does not have."""
        return _values(row, self.after if is_after else self.before)


def named_key(
    names: Sequence[str], before: TableVersion, after: TableVersion, columns: Columns
) -> RowKey:
    """Return the key of named columns.

    Raises:
        ValidationFailed: A version has no such column.
    """
    partners = {j: i for i, j in columns.pairs}
    new = []
    for name in names:
        found = _column(after, name)
        if found is None:
            old_place = _column(before, name)
            found = None if old_place is None else dict(columns.pairs).get(old_place)
        if found is None or found not in partners:
            shared = ", ".join(after.names[j] for j in sorted(partners))
            msg = f"{name!r} is no column of both versions; they share: {shared or 'none'}"
            raise ValidationFailed(msg)
        new.append(found)
    old = tuple(partners[each] for each in new)
    return RowKey(old, tuple(new), ", ".join(after.names[each] for each in new), is_named=True)


def check_key(key: RowKey, before: TableVersion, after: TableVersion) -> None:
    """Check that a key identifies the rows of both versions, as far as there is time for it.

    Raises:
        ValidationFailed: A version has rows with the same key.
        FileReadFailed: A version cannot be read.
    """
    _check_unique(before, key.before, key.name, "before")
    _check_unique(after, key.after, key.name, "after")


def _column(version: TableVersion, name: str) -> int | None:
    """Return the column with a name; without regard to case if none has just this one."""
    if name in version.names:
        return version.names.index(name)
    folded = [each.casefold() for each in version.names]
    wanted = name.strip().casefold()
    return folded.index(wanted) if wanted in folded else None


def _check_unique(version: TableVersion, places: Sequence[int], name: str, which: str) -> None:
    seen: set[int] = set()
    until = time.monotonic() + MAX_CHECK_SECONDS
    item = 0
    for batch in read_rows(version, version.start, partial(_values, places=places)):
        for value, row in zip(map(hash, batch.keys), batch.items, strict=True):
            if value in seen:
                shown = ", ".join(_values(row.fields, places)) or "no value"
                msg = (
                    f"{name} does not identify rows: row {version.number(item):,} of the version "
                    f"{which} has {shown} as an earlier one has; name more columns, or none"
                )
                raise ValidationFailed(msg)
            seen.add(value)
            item += 1
        if time.monotonic() > until:
            break


def find_key(
    before: TableVersion,
    after: TableVersion,
    columns: Columns,
    stretches: Sequence[Stretch[Row]],
) -> RowKey | None:
    """Return the column that identifies rows, or None; raises FileReadFailed."""
    if not any(each.before for each in stretches) or not any(each.after for each in stretches):
        return None
    pairs = sorted(columns.pairs, key=lambda pair: pair[1])
    likely = [pair for pair in pairs if _KEY_NAME.search(after.names[pair[1]].strip(" ."))]
    for old, new in dict.fromkeys([*likely, *pairs[:1]]):
        differing = [[row.fields for each in stretches for row in each.before]]
        differing.append([row.fields for each in stretches for row in each.after])
        if (
            _is_unique(differing[0], old)
            and _is_unique(differing[1], new)
            and _is_unique(islice(_rows(before), CHECKED_ROWS), old)
            and _is_unique(islice(_rows(after), CHECKED_ROWS), new)
        ):
            return RowKey((old,), (new,), after.names[new], is_named=False)
    return None


def _is_unique(rows: Iterable[Sequence[str]], column: int) -> bool:
    seen: set[str] = set()
    for row in rows:
        value = row[column] if column < len(row) else ""
        if not value or value in seen:
            return False
        seen.add(value)
    return True


def _rows(version: TableVersion) -> Iterable[list[str]]:
    return islice(table_rows(version), int(version.has_header), None)


def _values(row: Sequence[str], places: Sequence[int]) -> tuple[str, ...]:
    return tuple(row[place] if place < len(row) else "" for place in places)
