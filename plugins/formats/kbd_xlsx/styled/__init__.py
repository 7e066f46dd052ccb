"""How a workbook looks, told in words, and its looks and media carried into another one.

listing      what `get_styles` answers; `answers` bounds it
describing   cell formats and differential formats in the words of style objects
palette      what colours come to: the theme's, listed ones, with tints
rules        conditional formats in words
sheetlooks   what a sheet's part says of looks, read as a stream; `occurrences` makes ranges of it
drawings     pictures and charts on sheets
"""
