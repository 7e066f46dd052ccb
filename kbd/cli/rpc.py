"""`kbd rpc`: call any method of the daemon."""

import argparse
import json
import sys
from collections.abc import Callable

from kbd.cli.exits import OK, USAGE, Stop
from kbd.cli.link import call
from kbd.cli.start import connect_or_start
from kbd.cli.terminal import say

__all__ = ["command"]


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd rpc` and return what runs it."""
    parser.epilog = """\
examples:
  kbd rpc EngineGetInfo
  kbd rpc WorkbenchCreate '{"name": "taxes"}'
  kbd rpc rpc.discover                 every method with its parameters
  echo '{"name": "taxes"}' | kbd rpc WorkbenchCreate -"""
    parser.add_argument("method", metavar="METHOD")
    parser.add_argument(
        "params", nargs="?", metavar="JSON", help="an object; - reads it from stdin"
    )
    return _rpc


def _rpc(arguments: argparse.Namespace) -> int:
    text = sys.stdin.read() if arguments.params == "-" else arguments.params or "{}"
    try:
        params = json.loads(text)
    except ValueError as error:
        raise Stop(f"the parameters are not JSON: {error}", USAGE) from error
    if not isinstance(params, dict):
        raise Stop('the parameters must be an object: {"name": value}', USAGE)
    with connect_or_start(arguments) as client:
        result = call(client, arguments.method, params, slow=True)
    # Programs read escapes whatever their locale; people read letters.
    say(json.dumps(result, indent=2, ensure_ascii=not sys.stdout.isatty()))
    return OK
