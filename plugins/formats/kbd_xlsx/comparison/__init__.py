"""Comparison of two versions of a workbook: by sheet and cell, with shifts recognised.

Rows are compared by hashes of their markup first; only those that differ are taken apart.

sheet_rows      a sheet's rows as raw markup, and what stands around them
raw_cells       the cells of a raw row
shared_texts    the texts of cells
formula_texts   formulas as text and references
cell_values     what a cell holds, as keys and as readings show it
looks           cell formats of both versions
book_side       one version of a workbook and its sheets
line_maps       which rows, columns and cells are which; formulas that only follow a shift
row_tokens      what rows are aligned by
row_alignment   the rows and columns of two versions of a sheet, aligned
"""
