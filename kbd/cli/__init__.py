"""The command line: a thin client of the daemon.

Read `command` first: it finds the subcommand and turns what goes wrong into an exit code. Each
subcommand is a module with `command(parser)`, imported when it is asked for, so that `kbd status`
pays only for what it needs (the gate is three times a bare Python).

What they share: `exits` (the codes), `place` (where the daemon is), `link` (speaks to it), `start`
(starts it), `terminal` (what may be printed), `names` (which workbench is meant); `job` (what `run`
and `send` share, shown by `progress`), `files` (copied in and out), `changes` and `describe` (a
change set and an event for people, the latter in `phrases`); `reading` (a log page by page),
`placing` (where an event belongs), `selecting` (which events are asked for), `related` (what an
event answers), `contents` (the bytes that it names) and `unfolding` (records for reading); `spoken`
(a conversation for people); `proving` (a run proved), `pages` (a run as a page); `watching` (steps
of `kbd watch`) and `watched` (watches for people).

A walk through a run: `book` (its steps as they are read), `retold` (a step in words), `standing`
(how all stood), `pictures` (what is looked at beside a step), `walk` (what a key does, and what
is seen then), `screen` (the terminal).

A conversation, in a package of its own: `chat`.

The commands: `run`, `send`, `workbench` (`kbd wb`), `review`, `publish`, `discard`,
`conversation`, `undo`, `regenerate`, `fork`, `checkpoints`, `context`, `watch`, `log`, `show`,
`runs`, `replay`, `verify`, `export`, `backup`, `restore`, `status`, `up`, `stop`, `daemon`,
`doctor`, `plugins`, `providers`, `egress`, `rpc`.
"""

from kbd.cli.command import main

__all__ = ["main"]
