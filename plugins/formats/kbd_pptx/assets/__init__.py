"""Layouts, text styles, themes and pictures of a deck, copied into another one.

`copy_assets` does what its `asset_refs` say. `sourcedeck` finds what they mean; `copy_layouts`,
`copy_text`, `copy_themes` and `copy_images` copy it into a `deckedit`, and `part_copier` takes a
part with all that belongs to it.
"""
