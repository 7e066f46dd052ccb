"""Who refers to a sheet."""

from kbd_xlsx.calculation.book import FormulaBook

__all__ = ["mentions"]


def mentions(book: FormulaBook, title: str) -> list[str]:
    """Return the places outside a sheet that refer to it: cells as "Sheet1!B2", and names."""
    raise NotImplementedError
