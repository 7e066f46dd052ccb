"""For authors of plugins: the checks that kbd's own plugins pass, and what tests are built from.

`formats` holds `check_format`, the contract of a format handler as one call; `tools` a tool context
over a folder; `providers` a provider that answers by script. Import the module that is needed.
"""
