"""Styles, pictures and charts of a workbook, copied into another one.

`copy_assets` does what its references say. `copy_formatting` takes formatting and its conditions
along, `copy_objects` pictures and charts with their anchors; `part_copier` takes a part with all
that belongs to it, `insertion` has a sheet name it.
"""
