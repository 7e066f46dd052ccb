"""Formatting of a workbook, told in words.

`style_list` is what `get_styles` answers, conditional formats among it. `description` has the words
for formatting; `theme` resolves colors. `sheet_formatting` reads a sheet as a stream and makes
ranges of what it meets; `drawings` finds pictures and charts, `sourcebook` the
parts that a workbook has one of.
"""
