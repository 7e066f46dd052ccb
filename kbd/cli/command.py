"""Dispatcher of subcommands: finds the subcommand, runs it, ends with an exit code.

A subcommand's module has `command(parser)`, which adds its arguments and returns what runs it; its
line in `COMMANDS` is all that names it.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Sequence

from kbd import __version__
from kbd.cli.exits import BROKEN_PIPE, CANCELLED, USAGE, Stop
from kbd.cli.terminal import note

__all__ = ["COMMANDS", "main"]

Run = Callable[[argparse.Namespace], int]

COMMANDS = {
    "run": "do a job on your files: add, ask, review, publish, extract",
    "wb": "make, list, fill and empty workbenches",
    "send": "ask for something in a workbench, or resume its run",
    "chat": "talk with a workbench, or with a folder of files",
    "review": "show what the draft would change",
    "blame": "show who touched a cell, paragraph or shape, and why",
    "publish": "make the draft's changes the workbench's files",
    "approve": "decide what waits for a person",
    "rebase": "apply the draft's edits to what somebody published meanwhile",
    "receipt": "prove what a publish changed: show, save, verify",
    "discard": "throw the draft away",
    "conversation": "show what was said in a workbench, with the ids of the messages",
    "undo": "go back to an earlier message: conversation, files and draft as they were",
    "regenerate": "have a message answered once more",
    "fork": "make a workbench of what another one holds, or held",
    "checkpoints": "list, make and restore what was published at some moment",
    "context": "set what every run of a workbench is told",
    "watch": "watch folders: work on what lands in them, without being asked",
    "recipe": "keep jobs that were done, to do them again with other files",
    "log": "show what happened in a workbench, event by event",
    "show": "show one event in full",
    "runs": "list runs: state, time, tokens, cost",
    "replay": "walk through a run, restore a moment of it, or do its calls again",
    "verify": "check that the log and all file versions are whole",
    "repair": "mend damaged logs and file versions, while no daemon runs",
    "export": "write a run with all it rests on to one file that verifies itself",
    "backup": "copy all logs and file versions to a folder, while work goes on",
    "restore": "make a home from a backup",
    "storage": "show what takes the disk, what goes by itself and when",
    "prune": "archive what is old and done, remove old archives",
    "status": "say whether the daemon runs, and what it does",
    "up": "start the daemon in the background",
    "stop": "stop the daemon",
    "daemon": "run the daemon in the foreground",
    "doctor": "check the installation and say what is wrong",
    "plugins": "list plugins, with the reason for each that is left out",
    "providers": "list providers of models; try, enable, disable one; how hard it thinks",
    "metrics": "print what the daemon counts, for Prometheus",
    "egress": "show what left this machine, and whether it may",
    "rpc": "call a method of the daemon",
}
"""Every subcommand, with what it does. Its module bears its name."""

_MODULES = {"wb": "workbench", "chat": "chat.entry"}
"""But for these."""

EPILOG = """\
examples:
  kbd run "one sheet per category, with totals" statements/*
  kbd wb new taxes receipts/*
  kbd send taxes "total by month"
  kbd review taxes && kbd publish taxes

exit codes: 0 done, 1 failed, 2 usage, 3 consent or confirmation needed,
  4 declined, 69 no daemon answers, 75 another daemon has the home, 130 cancelled
`kbd COMMAND --help` says more about each."""


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help in 80 columns.

    argparse would import shutil (4 ms with the compressors it brings) to measure the terminal.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=80, max_help_position=28)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    try:
        return _main(sys.argv[1:] if argv is None else argv)
    except Stop as stop:
        if stop.message:
            note(stop.message)
        return stop.code
    except KeyboardInterrupt:
        note("Interrupted.")
        return CANCELLED
    except BrokenPipeError:
        # Python would complain once more when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE


def _main(argv: Sequence[str]) -> int:
    parser = _parser()
    first = parser.parse_args(argv)
    if first.command is None:
        parser.print_help(sys.stderr)
        return USAGE
    if first.command not in COMMANDS:
        parser.error(f"no such command: {first.command} (see `kbd --help`)")
    described = COMMANDS[first.command]
    described = f"{described[0].upper()}{described[1:]}."
    own = argparse.ArgumentParser(
        prog=f"kbd {first.command}", description=described, formatter_class=_Help
    )
    _add_place(own, argparse.SUPPRESS)
    run = _subcommand(first.command, own)
    # Intermixed: options may stand between a prompt and its files.
    return run(own.parse_intermixed_args(first.rest, first))


def _parser() -> argparse.ArgumentParser:
    listing = "\n".join(f"  {name:<12} {what}" for name, what in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="kbd",
        usage="kbd [--home DIR] [--socket PATH] COMMAND ...",
        description="Work on office files through reviewable drafts and a replayable log.",
        epilog=f"commands:\n{listing}\n\n{EPILOG}",
        formatter_class=_Help,
    )
    _add_place(parser, None)
    parser.add_argument("--version", action="version", version=f"kbd {__version__}")
    parser.add_argument("command", nargs="?", metavar="COMMAND", help=argparse.SUPPRESS)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _add_place(parser: argparse.ArgumentParser, default: str | None) -> None:
    parser.add_argument("--home", metavar="DIR", default=default, help="the daemon's home folder")
    parser.add_argument("--socket", metavar="PATH", default=default, help="the daemon's socket")


def _subcommand(name: str, parser: argparse.ArgumentParser) -> Run:
    """Import the subcommand's module, let it add its arguments, and return what runs it.

    Only this one: each costs 2 to 57 ms with all that it imports, so importing all of them would
    cost every command what the dearest one needs; `kbd status` would take 67 ms more.
    """
    module = importlib.import_module(f"kbd.cli.{_MODULES.get(name, name)}")
    run: Run = module.command(parser)
    return run
