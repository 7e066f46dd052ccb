"""Dependencies of formulas: which stored results an edit makes old, and who refers to a sheet.

`cells` are the formulas of a sheet's part. `operands` is what a formula's text refers to,
`operand_ranges` which cells that is with the workbook's names and tables, `functions` what is known
of worksheet functions and whether a stored result is current, `array_use` whether a formula
calculates with whole ranges. `book` puts them together,
`dependents` finds who refers to a cell or a sheet, `stale` the results that an edit makes old.
"""

from kbd_xlsx.calculation.book import FormulaBook
from kbd_xlsx.calculation.dependents import mentions
from kbd_xlsx.calculation.functions import result_state, volatile
from kbd_xlsx.calculation.operand_ranges import DefinedName, TableArea, names_column
from kbd_xlsx.calculation.stale import stale_results

__all__ = [
    "DefinedName",
    "FormulaBook",
    "TableArea",
    "mentions",
    "names_column",
    "result_state",
    "stale_results",
    "volatile",
]
