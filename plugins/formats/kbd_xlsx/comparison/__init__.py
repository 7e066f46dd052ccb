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
row_pairs       rows of stretches that differ: changed, moved, removed or added
column_alignment  columns aligned by what they hold
row_alignment   the rows and columns of two versions of a sheet, aligned
cell_areas      cells that are told together, as rectangles
result_changes  changes of stored results whose formulas are the same
cell_changes    changes of rows, columns and cells
counted_rows    the same of rows written alike, counted without their cells once the list is full
item_changes    changes of things of which there are several: names, links, charts
sheet_settings  changes of what is around the cells
sheet_objects   changes of what is related to a sheet
book_parts      changes of what is beside the sheets
book_changes    the comparison of two workbooks
places          places and their titles
traces          places followed from one version to another, and found by their titles
"""
