"""`kbd plugins`: list the plugins in use, and why others are not."""

import argparse
import json
from collections.abc import Callable

from kbd.cli.exits import OK
from kbd.cli.link import call
from kbd.cli.start import connect_or_start
from kbd.cli.terminal import render_table, say

__all__ = ["command"]


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd plugins` and return what runs it."""
    parser.epilog = """\
examples:
  kbd plugins
  kbd plugins --json

A plugin is a package with an entry point in the group `kbd`; `pip install` is all it needs. The
daemon looks for plugins when it starts."""
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return _plugins


def _plugins(arguments: argparse.Namespace) -> int:
    with connect_or_start(arguments) as client:
        found = call(client, "PluginsList")
    if arguments.json:
        say(json.dumps(found))
        return OK
    rows = [
        (each["name"], each["version"], each["kind"], each["status"], each.get("reason", ""))
        for each in found["plugins"]
    ]
    say(render_table(("plugin", "version", "brings", "status", "reason"), rows))
    return OK
