"""Formatting of a workbook told in words, and its styles, pictures and charts copied.

Told: `listing` is what `get_styles` answers. `description` has the words for formatting and `rules`
those for conditional formats; `theme` resolves colors. `sheet_formatting` reads a sheet as a
stream, `occurrences` makes ranges of what it meets; `drawings` finds pictures and charts,
`sourcebook` the parts that a workbook has one of.

Copied: `copy_assets` does what its `asset_refs` say. `copy_formatting` and `copy_rules`
take formatting along, `copy_objects` pictures and charts; `part_copier` takes a part with all that
belongs to it, `anchors` moves it, `insertion` has a sheet name it.
"""
