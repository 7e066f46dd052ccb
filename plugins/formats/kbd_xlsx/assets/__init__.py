"""Styles, pictures and charts of a workbook, copied into another one.

`copy_assets` does what its `asset_refs` say. `copy_formatting` and `copy_rules` take formatting
along, `copy_objects` pictures and charts; `part_copier` takes a part with all that belongs to it,
`anchors` moves it, `insertion` has a sheet name it.
"""
