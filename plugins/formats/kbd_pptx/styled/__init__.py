"""Formatting of a deck told in words, and its layouts, text styles and pictures copied.

Told: `listing` is what `get_styles` answers; `description` has the words for text and fills. `deck`
knows masters and layouts, `inheritance` from whom a shape has its looks, `levels` and `textstyles`
what text looks like level by level, `theme` colors and fonts of themes, `pictures` what stands
where.

Copied: `copy_assets` does what its `asset_refs` say. `sourcedeck` finds what they
mean; `copy_layouts`, `copy_text`, `copy_themes` and `copy_images` copy it into a `deckedit`,
and `part_copier` takes a part with all that belongs to it.
"""
