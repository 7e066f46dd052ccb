"""Copies to keep: a run as a case file that verifies itself, all of kbd as a backup, and back.

`checked` is what the check of either found.

A case file: `exporting` writes one, `contents` gathers what goes in (with `readme`), `writing`
makes the bytes, `placing` gives the file its name, `verify` checks, in the file itself (`verifier`
puts it there) and here (`case`).

A backup: `gathering` copies logs with what belongs to them (a file at a time: `copying`),
`inventory` says what there is, `backup` makes and checks it, `restore` makes a home of it, and
`first` sees to that home's first start. `moment` writes a workbench as it stood after an event.
`newfolder` gives a folder its name when it is whole.
"""

__all__: list[str] = []
