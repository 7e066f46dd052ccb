"""Contract checks for plugins, and the parts that tests of plugins are built from.

`formats` holds `check_format`, the contract of a format handler as one call, with `check_styles`
for what a Styled one promises and `check_regions` for passages; `promises` how a check reports a
broken promise; `tools` a tool context over a folder, with the search of `plain_search`;
`steadiness` the promise that the same call twice gives the same bytes; `providers` a provider that
answers by script, and the contracts of providers and embedders. Import the
module that is needed.
"""
