"""Formatting of a workbook, described in words.

`style_list` is what `get_styles` answers, conditional formats among it, and has the words for
formatting. `theme` resolves colors and finds the parts that a workbook has one of.
`sheet_formatting` reads a sheet as a stream and makes ranges of what it meets; `drawings` finds
pictures and charts; `object_list` tells of what else a sheet has beside its cells.
"""
