"""`kbd metrics`: print what the daemon counts, in the text format of Prometheus."""

import argparse
from collections.abc import Callable

from kbd.cli.exits import OK
from kbd.cli.link import call, connect
from kbd.cli.terminal import say

__all__ = ["command"]


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd metrics` and return what runs it."""
    parser.epilog = """\
examples:
  kbd metrics
  kbd metrics | grep kbd_tool

Counters begin at 0 when the daemon starts. The settings metrics.socket and metrics.file have the
same text answered on a socket and written to a file."""
    return _metrics


def _metrics(arguments: argparse.Namespace) -> int:
    # A daemon that is started for it would have counted nothing.
    with connect(arguments) as client:
        say(call(client, "DaemonGetMetrics")["text"].rstrip("\n"))
    return OK
