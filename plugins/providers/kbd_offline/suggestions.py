"""Suggestions for a request that is declined: requests near it that have a reading. Pure."""

from collections.abc import Callable, Sequence

from kbd_offline.facts import KnownTable
from kbd_offline.names import tokens

__all__ = ["nearest"]

_MOST = 2


def nearest(
    request: str, tables: Sequence[KnownTable], reads: Callable[[str], bool]
) -> tuple[str, ...]:
    """Return at most two requests that have a reading: by the words of the one that has none.

    Args:
        request: The one without.
        tables: The tables.
        reads: Whether a request has a reading.
    """
    found: list[str] = []
    for table in tables[:1]:
        for one in _possible(request, table):
            if len(found) < _MOST and one not in found and reads(one):
                found.append(one)
    return tuple(found)


def _possible(request: str, table: KnownTable) -> list[str]:
    """Return requests about a table, those whose columns are spoken of first."""
    words = set(tokens(request))
    sums = [column.name for column in table.columns if column.adds_up]
    keys = [
        c.name for c in table.columns if c.is_text and 1 < c.distinct <= max(table.rows // 2, 2)
    ]

    def spoken(name: str) -> bool:
        return not words & set(tokens(name))

    sums.sort(key=spoken)
    keys.sort(key=spoken)
    of = f' of sheet "{table.sheet}"' if table.sheet else ""
    made = [f'total "{name}" by "{key}"{of}' for name in sums[:1] for key in keys[:1]]
    made += [f'top 10 rows by "{name}"{of}' for name in sums[:1]]
    made += [f'count rows by "{key}"{of}' for key in keys[:1]]
    return [*made, f"count rows{of}"]
