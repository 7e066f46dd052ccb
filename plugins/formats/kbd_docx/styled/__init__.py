"""How a document looks, told in words, and its looks, headers and pictures carried elsewhere.

Told: `listing` is what `get_styles` answers, bounded by `answers`, in the words of `describing`.
`document` has the parts as trees; `theme` resolves references; `properties` are looks as a flat
table, which `stylesheet` gathers along styles; `lists`, `sections` and `pictures` find the rest.
"""
