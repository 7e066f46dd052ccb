"""Formatting of a workbook, told in words.

`listing` is what `get_styles` answers. `description` has the words for formatting and `rules` those
for conditional formats; `theme` resolves colors. `sheet_formatting` reads a sheet as a stream,
`occurrences` makes ranges of what it meets; `drawings` finds pictures and charts, `sourcebook` the
parts that a workbook has one of.
"""
