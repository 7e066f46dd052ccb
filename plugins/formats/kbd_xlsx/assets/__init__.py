"""Styles, pictures and charts of a workbook, copied into another one.

`copy_assets` does what its references say. `copy_formatting` takes formatting and its conditions
along, `copy_objects` pictures and charts with their anchors and all parts that belong to them.
"""
