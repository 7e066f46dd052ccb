"""`kbd daemon`: run the daemon in the foreground, as a service manager wants it."""

import argparse
import gc
import os
import sys
import threading
import time
from collections.abc import Callable

from kbd.cli.link import resolve_home, resolve_socket

__all__ = ["command"]

_THREADS_TIMEOUT_S = 2.0
"""How long threads are waited for when all is written; one may hang on a disk that is away."""


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
        "--log-format",
        choices=("json", "console"),
        help="the form of its log; console, or json in a file, if you do not say",
    )
    parser.add_argument(
        "--log-to",
        choices=("stderr", "file"),
        default="stderr",
        help="where its log goes: file is daemon/daemon.log in the home, which is rotated",
    )
    return _daemon


def _daemon(arguments: argparse.Namespace) -> int:
    # Everything the daemon is made of; no other command needs any of it. It is here to stay: the
    # collector of cycles would look through it in vain, now, and for 20 ms at each full pass later.
    gc.disable()
    from kbd.core.api.daemon import main  # noqa: PLC0415 - 186 ms

    gc.freeze()
    gc.enable()
    home = resolve_home(arguments.home)
    socket = resolve_socket(arguments.socket, arguments.home)
    log_to = arguments.log_to
    log_format = arguments.log_format or ("json" if log_to == "file" else "console")
    code = main(home, socket, arguments.backend, log_format, log_to)
    if _has_hung_threads():
        # Python would wait for them, perhaps for ever. What was acknowledged is durable.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def _has_hung_threads() -> bool:
    """Wait a moment for threads that are left, and tell whether any still is."""
    until_s = time.monotonic() + _THREADS_TIMEOUT_S
    left = [each for each in threading.enumerate() if not each.daemon]
    left.remove(threading.main_thread())  # which cannot join itself
    for thread in left:
        thread.join(max(0.0, until_s - time.monotonic()))
    return any(thread.is_alive() for thread in left)
