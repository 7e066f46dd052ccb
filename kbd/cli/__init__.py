"""The command line: a thin client of the daemon.

Read `command` first: it finds the subcommand and turns what goes wrong into an exit code. Each
subcommand is a module with `command(parser)`, imported when it is asked for, so that `kbd status`
pays only for what it needs (the gate is three times a bare Python).

`place` knows where the daemon is, `link` speaks to it, `start` starts it; `terminal` is what may
be printed; `job` does what `run` and `send` share, shown by `progress`.
"""

from kbd.cli.command import main

__all__ = ["main"]
