"""Formatting of a deck, told in words.

`style_list` is what `get_styles` answers; `description` has the words for text and fills. `deck`
knows masters and layouts, `inheritance` from whom a shape has its looks, `levels` and `textstyles`
what text looks like level by level, `theme` colors and fonts of themes, `pictures` what stands
where.
"""
