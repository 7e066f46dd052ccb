"""The command line: a thin client of the daemon.

Read `command` first: it finds the subcommand and turns what goes wrong into an exit code. Each
subcommand is a module with `command(parser)`, imported when it is asked for, so that `kbd status`
pays only for what it needs (the gate is three times a bare Python).

What they share:

    exits         the exit codes
    link          the command line's end of the socket, and where that is
    start         starts the daemon where it does not run
    terminal      what may be printed, how wide it is, tables, questions
    names         which workbench or run is meant
    job           what `run` and `send` share, shown by `progress`
    files         files copied in and out
    log_reader    a log page by page, so that it may be longer than the memory
    record_text   records for reading
    watch_rules   steps of `kbd watch`; `watch_text` has watches for people
    replay_proof  a run proved
    replay_page   a run as a page

A walk through a run: `run_steps` (its steps as they are read), `step_text` (a step in words),
`walk_panels` (what is looked at beside a step), `walk` (what a key does, and what is seen then),
`screen` (the terminal).

A conversation, in a package of its own: `chat`.

The commands: `run`, `send`, `workbench` (`kbd wb`), `review`, `publish`, `discard`,
`conversation`, `undo`, `regenerate`, `fork`, `checkpoints`, `context`, `watch`, `log`, `show`,
`runs`, `replay`, `verify`, `export`, `backup`, `restore`, `status`, `up`, `stop`, `daemon`,
`doctor`, `plugins`, `providers`, `egress`, `rpc`.
"""

from kbd.cli.command import main

__all__ = ["main"]
