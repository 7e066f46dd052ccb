"""Formatting of a document, told in words.

`style_list` is what `get_styles` answers, in the words of `description`. `document` has the parts
as trees; `theme` resolves references; `properties` are looks as a flat table, which `stylesheet`
gathers along styles; `lists`, `sections` and `pictures` find the rest. `element_order` puts
elements where the schema has them.
"""
