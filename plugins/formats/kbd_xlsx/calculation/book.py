"""The formulas of a workbook, as far as it matters on what they depend."""

from collections.abc import Sequence

from kbd_xlsx.calculation.records import DefinedName, TableArea

__all__ = ["FormulaBook"]


class FormulaBook:
    """A workbook's formulas; nothing is read before it is asked for.

    Args:
        sheets: Title and worksheet XML of each sheet, in the order of the tabs; a sheet without
            cells has b"".
        names: The defined names, also the hidden ones.
        tables: The tables of all sheets.
    """

    def __init__(
        self,
        sheets: Sequence[tuple[str, bytes]],
        names: Sequence[DefinedName] = (),
        tables: Sequence[TableArea] = (),
    ) -> None:
        self.sheets = tuple(sheets)
        self.names = tuple(names)
        self.tables = tuple(tables)
