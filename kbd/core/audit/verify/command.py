"""What `python3 case.zip` does: check, say what was found, and end with a code.

0 is whole, 1 is damaged, unlike what was asked for, or not to be read, 2 is a command line that
makes no sense.
"""

from __future__ import annotations

import argparse
import os
import sys

from .case import Found, check
from .unpacking import Refused, unpack

__all__ = ["main"]

WHOLE, DAMAGED = 0, 1


def main(argv: list[str]) -> int:
    """Check a case file as the command line says.

    Args:
        argv: The case file that holds this verifier, then the arguments.
    """
    parser = argparse.ArgumentParser(
        prog=f"python3 {argv[0]}",
        description="Check a case file of kbd: every byte, its log, the file versions it names.",
    )
    parser.add_argument("file", nargs="?", default=argv[0], help="another case file to check")
    parser.add_argument(
        "--head", metavar="SEQ:HASH", type=_head, help="a head of the log that was kept elsewhere"
    )
    parser.add_argument("--extract", metavar="DIR", help="unpack to a new folder, if it is whole")
    arguments = parser.parse_args(argv[1:])
    asked: tuple[int, str] | None = arguments.head
    try:
        if os.path.exists(arguments.file) and not os.path.isfile(arguments.file):
            raise Refused("this is no file")  # A pipe would have it wait for ever.
        with open(arguments.file, "rb") as file:
            found = check(file, (asked[0],) if asked else ())
            code = _told(arguments.file, found, asked)
            if arguments.extract is not None:
                count = unpack(file, found, arguments.extract)
                _say(f"{count} files were written to {arguments.extract}.")
    except Refused as error:
        _say(f"{arguments.file}: {error}.")
        return DAMAGED
    except OSError as error:
        _say(f"{error.filename or arguments.file}: {error.strerror or error}.")
        return DAMAGED
    return code


def _head(text: str) -> tuple[int, str]:
    seq, _, value = text.partition(":")
    if not seq.isdigit() or len(value) != 64 or set(value) - set("0123456789abcdef"):
        raise argparse.ArgumentTypeError("a head is SEQ:HASH, a number and 64 hex digits")
    return int(seq), value


def _told(name: str, found: Found, asked: tuple[int, str] | None) -> int:
    """Print what was found and return the exit code."""
    case, history = found.case, found.history
    if case is not None:
        workbench_id, title = case.workbench
        _say(f"run       {case.run} of workbench {workbench_id} ({title})")
        _say(f"written   by kbd {case.kbd}; last event at {case.time}")
    if history is not None:
        _say(f"log       {history.seq} events in {history.frames} frames")
        _say(f"blobs     {found.blobs} file versions")
        for blob, text in case.collected if case is not None else ():
            _say(f"          not in here: {blob[:12]}, {text}")
        _say(f"head      {history.seq}:{history.head}")
        _say("          compare it with one that was kept elsewhere: --head SEQ:HASH")
    elif case is not None:
        _say("log       was not read: its bytes are damaged or missing")
    for fault in found.faults:
        exact = f"byte {fault.offset}"
        if fault.size > 1:
            exact = f"bytes {fault.offset} to {fault.offset + fault.size - 1}"
        _say(f"DAMAGED   at {exact}: {fault.reason}")
    is_kept = _compared(found, asked) if asked else True
    if found.faults:
        _say(f"{name} is DAMAGED.")
        return DAMAGED
    if not is_kept:
        return DAMAGED
    _say(f"{name} is whole: every byte, its log and its file versions.")
    return WHOLE


def _compared(found: Found, asked: tuple[int, str]) -> bool:
    """Compare the log with a head that was kept, and say so."""
    seq, value = asked
    if found.history is None:
        _say("kept head cannot be compared: the log was not read")
    elif seq > found.history.seq:
        _say(f"kept head cannot be compared: the log in here ends at event {found.history.seq}")
    elif found.history.heads.get(seq) != value:
        _say(f"DIFFERS   event {seq}: the log in here has another head than the kept one")
    else:
        _say(f"kept head is the log's at event {seq}: it was not changed since")
        return True
    return False


def _clean(text: str) -> str:
    """Return text that a terminal only shows."""
    return "".join(each if each.isprintable() else "?" for each in text)


def _say(text: str) -> None:
    data = _clean(text).encode(sys.stdout.encoding or "utf-8", "replace")
    sys.stdout.write(data.decode(sys.stdout.encoding or "utf-8", "replace") + "\n")
