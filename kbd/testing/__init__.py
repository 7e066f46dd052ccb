"""For authors of plugins: the checks that kbd's own plugins pass, and what tests are built from.

`formats` holds `check_format`, the contract of a format handler as one call, with `styles` for what
a Styled one promises, `passages` for what those promise, and `promises`, how a check tells
that one is broken; `tools` a tool context over a folder, `searching` its plain search; `steadiness`
the promise that the same call twice gives the same bytes; `providers` a provider that answers by
script, and the contracts of providers and embedders. Import the module that is needed.
"""
