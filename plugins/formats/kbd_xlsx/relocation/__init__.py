"""Operations carried over to another version of a workbook, in which rows may stand elsewhere.

places      which row of one version certainly is which of the other
operations  the addresses of each operation, and formulas that go with them
drawings    the ranges and places of operations on charts and pictures
"""
