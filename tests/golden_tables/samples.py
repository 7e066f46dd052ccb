"""Columns that cases of several subjects are made of, and words about lines above a table."""

from golden_tables.cases import number, text

__all__ = ["ABOVE", "AMOUNTS", "COUNTS", "NAMES", "THREE"]

NAMES = text("Name", "Anna|Bert|Cleo|Dora")
AMOUNTS = number("Amount", "1.50 2.25 -3.00 40.00", decimal=".")
COUNTS = number("Count", "1 2 3 4")
THREE = [NAMES, AMOUNTS, COUNTS]
ABOVE = ("title", "above", "header", "before")
