"""The plugin host, from the bottom up.

    installed  which there are, by their entry points
    hooks      one package's hooks: check them, call one
    suffixes   formats by a file's name
    schemas    JSON schemas of tools' arguments
    strictness the same in the form that servers hold models to
    contributions  the wire methods that a format's capabilities give
    checks     whether what a hook returned is well-formed
    host       `Plugins`: find, load, keep; every fault a status

Workers import `hooks` alone, so this page imports nothing.
"""

__all__: list[str] = []
