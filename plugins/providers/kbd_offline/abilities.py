"""Abilities of the provider: examples for who asks, and those near a declined request. Pure."""

import re
from collections.abc import Callable, Sequence
from itertools import islice

from kbd_offline.facts import KnownTable
from kbd_offline.names import fold, tokens

__all__ = ["ABILITIES", "HOW_TO_ASK", "asks_for_abilities", "nearest"]

HOW_TO_ASK = "what can you do?"
"""What is answered with all abilities."""

ABILITIES = """\
On a table of the workbench (csv, tsv, parquet, arrow, json, or a sheet of a workbook or an ods \
file) I can
- put each value of a column on its own sheet, with a summary sheet of totals: "one sheet per \
Category with Date and Amount sorted by Date, and a sheet of totals"
- total, average, count, minimum or maximum, of all rows or by columns, months, years: "total \
Amount by Category into sums.xlsx"
- filter, sort and choose columns: "only rows where Amount > 100, sorted by Date descending, \
with Date and Amount"
- take values and times from the words for them: "all but cancelled, March to May 2024"
- find the first and last ones: "top 10 customers by total Amount"
- tell shares and running totals: "share of Amount by Region"
- cross two columns: "Amount by Region and month across"
- compute columns, rename and tidy them: "add a column Total = Qty * Price, rename Qty to Quantity"
- convert it: to xlsx, csv, tsv or parquet, one sheet or every sheet: "convert every sheet of \
book.xlsx to csv"
- remove duplicate rows, as a whole or by columns: "remove duplicates by Email, keep the last"
On several files I can
- say what files hold: "what is in it?"
- merge tables with the same columns into one: "merge all csv files into all.xlsx with a source \
column"
- join two tables by a key that both have: "add City from customers.csv to orders.csv"
- compare two lists: "what changed between old.csv and new.csv?"
- write a report of what files hold (docx, md, txt, xlsx): "profile these files as a Word report"
- replace a text by another one, in documents, decks, cells and texts: "replace "Acme Ltd" with \
"Beta Inc" in all Word documents"

Say it with the names of columns."""
"""All abilities as a list, each with an example."""

_ASKS = re.compile(
    r"\W*(?:(?:please|hello|hi)\W+)*(?:help(?:\s+me)?|hilfe|\?|abilities|capabilities|commands"
    r"|what\s+(?:all\s+)?(?:can|do|could)\s+(?:you|it|kbd)\s+(?:all\s+)?(?:do|understand)(?:\s+here)?"
    r"|(?:list|show)\s+(?:me\s+)?(?:all\s+)?(?:your\s+)?(?:abilities|capabilities|commands)"
    r"|was\s+kannst\s+du(?:\s+alles)?)\W*"
)


def asks_for_abilities(request: str) -> bool:
    """Tell whether a request asks for nothing but what can be done."""
    return _ASKS.fullmatch(fold(request)) is not None


_MOST = 2
"""Requests that are suggested."""


def nearest(
    request: str, tables: Sequence[KnownTable], reads: Callable[[str], bool]
) -> tuple[str, ...]:
    """Return at most two requests that have a reading: by the words of the one that has none.

    Args:
        request: The one without.
        tables: The tables.
        reads: Whether a request has a reading.
    """
    possible = _possible(request, tables[0]) if tables else ()
    return tuple(islice(filter(reads, dict.fromkeys(possible)), _MOST))


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
