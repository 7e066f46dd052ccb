"""Styles, headers and pictures of a document, copied into another one.

`copy_assets` does what its `asset_refs` say to a `target`. `copy_styles`, `copy_lists`,
`copy_banners` and `copy_pictures` take each kind along; `excerpts` makes pieces ready to stand
elsewhere, `part_copier` takes the parts that they are related to.
"""
