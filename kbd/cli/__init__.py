"""Command line: a thin client of the daemon.

Read `command` first: it finds the subcommand and turns what goes wrong into an exit code. Each
subcommand is a module with `command(parser)`, imported when it is asked for, so that `kbd status`
pays only for what it needs (the gate is three times a bare Python).

Shared modules:

    exits         exit codes
    link          connection to the daemon's socket, and where that is
    start         starts the daemon where it does not run
    patience      a word about what a command waits for
    terminal      terminal output: escaping, width, tables, questions
    pages         long lists, read page by page
    names         resolves the name of a workbench or run
    job           what `run` and `send` share, shown by `progress`
    documents     jobs and recipes in the place of words
    files         files copied in and out
    readings      how tables are to be read: said, or asked before a run
    recover       discarded drafts brought back, for `wb`
    new_file      files that commands write, whole or not at all
    diff_view     text of what a draft changes inside a file
    pager         styled lines on stdout, through the user's pager
    log_reader    pages through a log, so that it may be longer than the memory
    rule_confirmation  what a restored rule does by itself, confirmed by name
    watch_rules   arguments and consent of watch rules
    ages          ages as arguments: 30d, 12h

A walk through a run: `run_steps` (its steps, read on demand), `step_text` (text of a step, and of
any record), `walk` (panels, key bindings, frames), `screen` (full-screen terminal).

A conversation, in a package of its own: `chat`.

The other modules are a command each; `command.COMMANDS` lists them.
"""

from kbd.cli.command import main

__all__ = ["main"]
