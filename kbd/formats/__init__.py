"""What a file format must offer: a handler, and the capabilities that it implements.

A handler is synchronous and runs in a worker process of its plugin, never in the daemon. It is
given files to read and a path to write to; it knows nothing of drafts, events or models. What it
can do is told by the capabilities it inherits:

    Mappable   map()                       the structure of a file, without its contents
    Readable   read(), passages()          the text of a region; all text with its places
    Celled     cells()                     a region's cells as typed values, beside its text
    Composed   objects()                   a region's tables, pictures and shapes, beside its text
    LaidOut    layout()                    a region's tables as they are seen, words with boxes
    Previewable preview()                  a page, slide or picture as people see it
    Printable  (declares, has no method)   pages that an office program prints, shown as pictures
    Gridded    grid()                      a window of a sheet or table as people see it
    Relocatable relocate()                 operations as they are on another version of a file
    Mergeable  merge()                     two sets of changed lines in one file
    Comparable compare(), trace(), locate()  what differs between two versions of a file, and where
    Receiptable receipt_facts()            what differs inside, in facts that others can recompute
    Inspectable active_content()           what its files run, fetch or start when they are opened
    Editable   operations, apply(),        typed operations on a new or an existing file, also
               apply_with_files()          such that name other files (a picture to put in)
    Calculable calculate()                 results of the formulas that an edit left without one
    Tabular    read_table(), write_table(), a file or sheet as rows with named, typed columns
               write_tables()
    Styled     get_styles(), copy_assets() how a file looks, and what of it another one can take

A plugin's package declares handlers in its `__init__` and imports its heavy libraries in other
modules: those named in `preload` are imported once in the worker's zygote, the daemon never
imports them. Handlers raise `kbd.errors.KbdError`; anything else they raise is reported as
FILE_READ_FAILED (or FILE_WRITE_FAILED when writing) without a traceback.

    active         active content of files, compared with what is known
    additivity     whether the numbers of a column add up to a figure, or are prices, rates, ids
    records        what is handed to a handler, and what it hands back
    table_reading  how a table is read: what was said, found out, and has to be asked
    cell_texts     texts that are no value: of missing ones, and remarks
    plain_rows     a table's rows as they are written
    total_labels   labels of rows that sum others up, in many languages
    capabilities   what a handler declares, and what it may inherit
    layout         what formats that are `LaidOut` tell of pages
    page_numbers   numbers of pages as people write them: "1-5", "2,7-9"
    named_files    fields of operations that name another file of the workbench
    styled         what formats that are `Styled` share: bounded answers, asset ids
    headings       the names of a table's columns, unique and as a heading
    unit_rows      rows below a header that have units, or number the columns
    comparison     what a comparison is made of: places, changes, hunks
    rebase         what a rebase asks of formats: operations carried over, lines merged
    change_text    the same as text for a model, a line a change
    alignment      which items of two sequences are the same; words of a changed text
    anchors        which of those are certain: nothing else can be meant
    receipts       what facts for receipts are made of: lists of items, with digests
    shelves        what is kept on a shelf: written whole, believed only if it is
"""

from kbd.formats.additivity import (
    Additivity,
    ColumnRole,
    NumberFacts,
    additivity,
    is_balance_name,
    is_quantity_name,
    is_rate_name,
    sum_sentence,
)
from kbd.formats.capabilities import (
    Calculable,
    Celled,
    Comparable,
    Composed,
    Editable,
    FormatHandler,
    Gridded,
    Inspectable,
    LaidOut,
    Mappable,
    Previewable,
    Printable,
    Readable,
    Receiptable,
    Styled,
    Tabular,
)
from kbd.formats.cell_texts import MISSING_TEXTS, is_remark
from kbd.formats.comparison import (
    Change,
    ChangeCount,
    ChangeKind,
    ChangeList,
    CompareOptions,
    Comparison,
    Hunk,
    HunkLine,
    Place,
    Span,
    Trace,
)
from kbd.formats.layout import BoxSides, FoundTable, FoundWord, LayoutPart, PageLayout
from kbd.formats.named_files import FilePath, named_files
from kbd.formats.rebase import Mergeable, MergeClash, Merged, Relocatable, Relocation
from kbd.formats.records import (
    Applied,
    AssetPick,
    Calculated,
    Calculation,
    CellValue,
    ChartForm,
    ChunkInfo,
    Column,
    ColumnName,
    ColumnType,
    Grid,
    GridMerge,
    GridWindow,
    Passage,
    Placement,
    Preview,
    Printed,
    Reading,
    Region,
    SheetForm,
    SheetRows,
    Source,
    Table,
    TotalFunction,
    Written,
    WrittenSheet,
    WrittenTables,
)
from kbd.formats.table_reading import (
    CAPITALS_APART,
    AggregateRow,
    FileQuestion,
    ReadingOption,
    ReadingQuestion,
    TableReading,
    TouchedRows,
)
from kbd.formats.total_labels import (
    COUNT_PATTERN,
    STATISTIC_LABELS,
    TOTAL_STEMS,
    WEAK_STEMS,
    YEAR_PATTERN,
    TotalKind,
    TotalLabel,
    count_label,
    remarks_on_total,
    statistic_label,
    total_label,
    weak_label,
    year_label,
)
from kbd.types import FocusHint, ReadAs

__all__ = [
    "CAPITALS_APART",
    "COUNT_PATTERN",
    "MISSING_TEXTS",
    "STATISTIC_LABELS",
    "TOTAL_STEMS",
    "WEAK_STEMS",
    "YEAR_PATTERN",
    "Additivity",
    "AggregateRow",
    "Applied",
    "AssetPick",
    "BoxSides",
    "Calculable",
    "Calculated",
    "Calculation",
    "CellValue",
    "Celled",
    "Change",
    "ChangeCount",
    "ChangeKind",
    "ChangeList",
    "ChartForm",
    "ChunkInfo",
    "Column",
    "ColumnName",
    "ColumnRole",
    "ColumnType",
    "Comparable",
    "CompareOptions",
    "Comparison",
    "Composed",
    "Editable",
    "FilePath",
    "FileQuestion",
    "FocusHint",
    "FormatHandler",
    "FoundTable",
    "FoundWord",
    "Grid",
    "GridMerge",
    "GridWindow",
    "Gridded",
    "Hunk",
    "HunkLine",
    "Inspectable",
    "LaidOut",
    "LayoutPart",
    "Mappable",
    "MergeClash",
    "Mergeable",
    "Merged",
    "NumberFacts",
    "PageLayout",
    "Passage",
    "Place",
    "Placement",
    "Preview",
    "Previewable",
    "Printable",
    "Printed",
    "ReadAs",
    "Readable",
    "Reading",
    "ReadingOption",
    "ReadingQuestion",
    "Receiptable",
    "Region",
    "Relocatable",
    "Relocation",
    "SheetForm",
    "SheetRows",
    "Source",
    "Span",
    "Styled",
    "Table",
    "TableReading",
    "Tabular",
    "TotalFunction",
    "TotalKind",
    "TotalLabel",
    "TouchedRows",
    "Trace",
    "Written",
    "WrittenSheet",
    "WrittenTables",
    "additivity",
    "count_label",
    "is_balance_name",
    "is_quantity_name",
    "is_rate_name",
    "is_remark",
    "named_files",
    "remarks_on_total",
    "statistic_label",
    "sum_sentence",
    "total_label",
    "weak_label",
    "year_label",
]
