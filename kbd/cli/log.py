"""`kbd log`: what happened, event by event, from the beginning or live."""

import argparse
import json
from collections.abc import Callable
from typing import Any

from kbd.cli.describe import described
from kbd.cli.exits import OK, UNREACHABLE, Stop
from kbd.cli.link import broken, call, connect, refusal
from kbd.cli.names import find
from kbd.cli.terminal import say
from kbd.client.blocking import Client
from kbd.client.errors import ConnectionLostError, RemoteError

__all__ = ["command"]

PAGE = 1000
"""Events a request; the method's own default."""


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd log` and return what runs it."""
    parser.epilog = """\
examples:
  kbd log taxes
  kbd log taxes --follow
  kbd log taxes --after 120 --json | python -m json.tool --json-lines
  kbd log daemon                       the daemon's own log"""
    parser.add_argument("workbench", metavar="WB", help="its id or name; or `daemon`")
    parser.add_argument("--follow", action="store_true", help="go on with what happens")
    parser.add_argument("--after", type=int, default=0, metavar="N", help="only events after N")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, complete")
    return _log


def _log(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        named = arguments.workbench
        log = "daemon" if named == "daemon" else str(find(client, named)["id"])
        show = _show_json if arguments.json else _show
        if arguments.follow:
            _follow(client, log, arguments.after, show)
        else:
            _read(client, log, arguments.after, show)
    return OK


def _show(event: dict[str, Any]) -> None:
    say(described(event))


def _show_json(event: dict[str, Any]) -> None:
    say(json.dumps(event))


def _read(client: Client, log: str, after: int, show: Callable[[dict[str, Any]], None]) -> None:
    last = after
    while True:
        params = {"workbench_id": log, "after": last, "limit": PAGE}
        found = call(client, "EventsRead", params, slow=True)
        for event in found["events"]:
            show(event)
            last = event["seq"]
        if not found["events"] or last >= found["last_seq"]:
            return


def _follow(client: Client, log: str, after: int, show: Callable[[dict[str, Any]], None]) -> None:
    last = after
    try:
        for event in client.follow(log, after):
            show(event)
            last = event["seq"]
    except RemoteError as error:
        raise refusal(error) from error
    except ConnectionLostError as error:
        msg = f"{broken(error).message}\nThen: kbd log {log} --follow --after {last}"
        raise Stop(msg, UNREACHABLE) from error
