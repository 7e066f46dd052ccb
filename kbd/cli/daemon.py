"""`kbd daemon`: run the daemon in the foreground, as a service manager wants it."""

import argparse
import gc
from collections.abc import Callable

from kbd.cli.place import home_of, socket_of

__all__ = ["command"]


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd daemon` and return what runs it."""
    parser.epilog = """\
examples:
  kbd daemon
  kbd --home /srv/kbd daemon --log-format json

Ends with 75 if another daemon has the home. SIGTERM and SIGINT stop it in order."""
    parser.add_argument(
        "--backend", choices=("asyncio", "trio"), default="asyncio", help="the event loop"
    )
    parser.add_argument(
        "--log-format", choices=("json", "console"), default="console", help="the form of its log"
    )
    return _daemon


def _daemon(arguments: argparse.Namespace) -> int:
    # Everything the daemon is made of; no other command needs any of it. It is here to stay: the
    # collector of cycles would look through it in vain, now, and for 20 ms at each full pass later.
    gc.disable()
    from kbd.core.daemon import main  # noqa: PLC0415 - 186 ms

    gc.freeze()
    gc.enable()
    home = home_of(arguments.home)
    socket = socket_of(arguments.socket, arguments.home)
    return main(home, socket, arguments.backend, arguments.log_format)
