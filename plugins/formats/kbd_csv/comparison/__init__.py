"""Comparison of two versions of a table in delimited text: columns, rows and cells.

    beside     whether a file may have lines beside its table
    version    how a version is read for it: its rows in batches, its columns, its dialect
    columns    which columns became which
    keys       the columns by which rows are paired
    row_match  which rows became which
    changes    the comparison itself
    places     where a row or a cell is in the other version, and what people write for it

Rows that are the same in both versions are skipped by their bytes where both are UTF-8, in the same
dialect, with the same columns; else all rows of both are parsed.
"""
