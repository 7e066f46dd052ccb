"""What depends on what: which stored results an edit makes old, and who refers to a sheet.

`records` are names and tables, `cells` the formulas of a sheet's part. `operands` is what a
formula's text refers to, `operand_ranges` which cells that is, with `functions`. `book` puts them
together, `index` finds who reads a cell. `stale` finds the results that an edit makes old,
`mentions` who refers to a sheet, `currency` what a stored result is worth.
"""

from kbd_xlsx.calculation.book import FormulaBook
from kbd_xlsx.calculation.currency import Standing, standing, volatile
from kbd_xlsx.calculation.mentions import mentions
from kbd_xlsx.calculation.records import DefinedName, TableArea
from kbd_xlsx.calculation.stale import stale_results

__all__ = [
    "DefinedName",
    "FormulaBook",
    "Standing",
    "TableArea",
    "mentions",
    "stale_results",
    "standing",
    "volatile",
]
