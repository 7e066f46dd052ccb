"""Collection of all golden tables, by the subjects that they are hard in.

`encoding_tables`: letters; `number_tables`: marks, signs, currencies; `date_tables`: their orders;
`row_tables`: line ends, quotes, ragged rows, remarks, delimiters; `header_tables`: names, titles
above and lines below; `total_tables`: sums in the source; `statement_tables`: statements of banks;
`workbook_tables`: sheets; `spreadsheet_tables`: the same sheets in OpenDocument files;
`foreign_tables`: what tables of other countries and programs add to each of these.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from golden_tables import (
    date_tables,
    encoding_tables,
    export_tables,
    foreign_tables,
    header_tables,
    number_tables,
    row_tables,
    spreadsheet_tables,
    statement_tables,
    total_tables,
    workbook_tables,
)
from golden_tables.cases import Case
from golden_tables.corpus_tables import corpus_cases

__all__ = ["CASES", "SUBJECTS", "all_cases"]

SUBJECTS: Mapping[str, tuple[Case, ...]] = {
    "encodings": encoding_tables.CASES,
    "numbers": number_tables.CASES,
    "dates": date_tables.CASES,
    "rows": row_tables.CASES,
    "headers": header_tables.CASES,
    "totals": total_tables.CASES,
    "statements": statement_tables.CASES,
    "workbooks": workbook_tables.CASES,
    "spreadsheets": spreadsheet_tables.CASES,
    "foreign": foreign_tables.CASES,
    "exports": export_tables.CASES,
}

CASES: tuple[Case, ...] = tuple(case for cases in SUBJECTS.values() for case in cases)


def all_cases() -> list[Case]:
    """Return all, with those of the corpora if KBD_CORPORA names their folder."""
    folder = os.environ.get("KBD_CORPORA")
    return [*CASES, *(corpus_cases(Path(folder)) if folder else ())]
