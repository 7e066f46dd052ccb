"""Formatting of a document told in words, and its styles, headers and pictures copied elsewhere.

Told: `listing` is what `get_styles` answers, in the words of `description`. `document` has the
parts as trees; `theme` resolves references; `properties` are looks as a flat table, which
`stylesheet` gathers along styles; `lists`, `sections` and `pictures` find the rest.

Copied: `copy_assets` does what its `asset_refs` say to a `target`. `copy_styles`,
`copy_lists`, `copy_banners` and `copy_pictures` take each kind along; `excerpts` makes pieces
ready to stand elsewhere, `part_copier` takes the parts that they are related to. `element_order`
puts elements where the schema has them.
"""
