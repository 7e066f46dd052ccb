"""Copies to keep: a run as a case file that verifies itself, all of kbd as a backup, and back.

`checked` is what the check of either found.

A case file: `exporting` writes one, `contents` gathers what goes in, `writing` makes the bytes,
`placing` gives the file its name, `verify` checks, in the file itself (`verifier` puts it there)
and here (`case`).
"""

__all__: list[str] = []
