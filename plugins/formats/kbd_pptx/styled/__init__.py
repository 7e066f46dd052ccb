"""How a deck looks, told in words, and its looks and pictures carried into another one.

Told: `listing` is what `get_styles` answers; `wording` has the words for
text and fills. `deck` knows masters and layouts, `inheritance` from whom a shape has its looks,
`levels` and `textstyles` what text looks like level by level, `theme` colors and fonts of
themes, `pictures` what stands where.

Carried: `copy_assets` does what its `picks` say. `sourcedeck` finds what they mean; `copy_layouts`,
`copy_text`, `copy_themes` and `copy_images` copy it into a `deckedit`, and `part_copier` takes a
part with all that belongs to it.
"""
