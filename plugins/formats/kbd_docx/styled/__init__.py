"""How a document looks, told in words, and its looks, headers and pictures carried elsewhere.

Told: `listing` is what `get_styles` answers, in the words of `describing`.
`document` has the parts as trees; `theme` resolves references; `properties` are looks as a flat
table, which `stylesheet` gathers along styles; `lists`, `sections` and `pictures` find the rest.

Carried: `copy_assets` does what its `picks` say to a `target`. `copy_styles`,
`copy_lists`, `copy_banners` and `copy_pictures` take each kind along; `excerpts` makes pieces
ready to stand elsewhere, `part_copier` takes the parts that they are related to. `ordering` puts
elements where the schema has them, `variants` spells values as strict documents do, or the others.
"""
