"""How a workbook looks, told in words, and its looks and media carried into another one.

Told: `listing` is what `get_styles` answers. `describing` has the words for
looks and `rules` those for conditional formats; `theme` resolves colours. `sheetlooks` reads a
sheet as a stream, `occurrences` makes ranges of what it meets; `drawings` finds pictures and
charts, `sourcebook` the parts that a workbook has one of.

Carried: `copy_assets` does what its `picks` say. `copy_formatting` and `copy_rules` take looks
along, `copy_objects` pictures and charts; `part_copier` takes a part with all that belongs to it,
`anchors` moves it, `insertion` has a sheet name it.
"""
