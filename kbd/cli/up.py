"""`kbd up`: start the daemon in the background."""

import argparse
from collections.abc import Callable

from kbd.cli.exits import OK, UNREACHABLE, Stop
from kbd.cli.link import call, connect
from kbd.cli.terminal import line, note, say

__all__ = ["command"]


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd up` and return what runs it."""
    parser.epilog = """\
examples:
  kbd up
  OPENAI_API_KEY=... kbd up     # the daemon reads its environment when it starts
  kbd --home /srv/kbd up

Does nothing if the daemon runs. Its log is daemon/daemon.log in the home."""
    parser.add_argument("--backend", choices=("asyncio", "trio"), help="the event loop")
    return _up


def _up(arguments: argparse.Namespace) -> int:
    # Not needed where the daemon runs already.
    from kbd.cli.start import start  # noqa: PLC0415 - 5 ms, mostly subprocess

    extra = ("--backend", arguments.backend) if arguments.backend else ()
    try:
        client = connect(arguments)
        already = " already"
    except Stop as stop:
        if stop.code != UNREACHABLE:
            raise
        client = start(arguments, *extra)
        already = ""
    with client:
        info = call(client, "EngineGetInfo")
    for field in ("home_warning", "damage"):
        if warning := info.get(field):
            note(line(warning, 1000))
    say(f"kbd {info['engine_version']} is{already} running (process {info['pid']}).")
    return OK
