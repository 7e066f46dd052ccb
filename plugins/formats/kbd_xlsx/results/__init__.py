"""Results of formulas: worked out by two engines and stored where both agree.

A workbook is not given to an engine. What the asked formulas need is put into a small book of plain
values and formulas, so that no engine reads a package that somebody else has made, and what other
formulas have come to counts as it is stored. Where the engines differ, or one does not know a
function, no result is stored, nor for what depends on it: none is better than a wrong one.

plan              which formulas are worked out, which of them no engine may, and what they read
references        names and structured references as plain ones
inputs            the values that are read, as sheets of a small book
small_book        the package that engines are given
engines           the engines, and what they answer
number_texts      where a number becomes a text, which programs write with fewer digits
report            what came out, in words
calculate         all of it: from a workbook to the same with results
"""
