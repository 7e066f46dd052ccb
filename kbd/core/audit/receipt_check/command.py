"""What is printed of the check of receipts, and the code that it ends with.

0 is all proven, 1 is something false or not to be read, 2 is a command line that makes no sense,
5 is nothing false, but something that could not be checked.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from .claims import Ill
from .files import FileFacts
from .parts import Checks, PartFacts
from .report import Report, check_receipt, find_receipts
from .shelf import TooMany, Unusable

__all__ = ["FALSE", "PROVEN", "UNPROVEN", "USAGE", "add_arguments", "main", "run"]

PROVEN, FALSE, USAGE, UNPROVEN = 0, 1, 2, 5

EXAMPLES = """\
  a folder that `kbd receipt save` wrote, or a receipt and the files, before and after: they are
  told apart by their hashes. A file with the name of one in the receipt and other bytes is compared
  part by part, and what differs is named.

exit codes: 0 all that is claimed was checked and is true, 1 something is false,
  2 usage, 5 nothing is false, but something could not be checked"""

_NOUNS = {
    "cells": "cell", "rows": "row", "paragraphs": "paragraph", "shapes": "shape",
    "elements": "other element",
}  # fmt: skip

_UNKNOWN = (
    "has neither the bytes nor the name of a file that is told of; "
    "with the name of one it is compared part by part"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the check."""
    parser.add_argument("files", nargs="+", metavar="FILES", help="receipts, files, folders")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def main(argv: Sequence[str], checks: Checks) -> int:
    """Check receipts as a command line says; return the exit code.

    Args:
        argv: The program and its arguments.
        checks: What formats' parts hold.
    """
    parser = argparse.ArgumentParser(
        prog=f"python3 {argv[0]}",
        description="Check receipts of kbd with the files that they are about.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
    given = list(argv[1:])
    if not given:
        # Run beside a receipt, it checks that.
        given = [os.path.dirname(os.path.abspath(argv[0]))]
    arguments = parser.parse_args(given)
    return run(arguments.files, as_json=arguments.json, checks=checks)


def run(files: Sequence[str], *, as_json: bool, checks: Checks) -> int:
    """Check receipts, print what was found, and return the exit code.

    Args:
        files: Receipts, files and folders.
        as_json: Whether to print JSON.
        checks: What formats' parts hold.
    """
    try:
        receipts, others = find_receipts(files)
        if not receipts:
            return _refuse("no receipt is among them: name one, or the folder it lies in", USAGE)
        reports = []
        for receipt in receipts:
            try:
                reports.append(check_receipt(receipt.path, others, checks))
            except Ill as error:
                return _refuse(f"{receipt.path}: {error}", FALSE)
    except (TooMany, Unusable) as error:
        return _refuse(str(error), USAGE)
    except OSError as error:
        reason = error.strerror or str(error)
        return _refuse(f"{error.filename or 'a file'}: {reason}", FALSE)
    except (MemoryError, RecursionError):
        return _refuse("a file takes more memory than there is; nothing is proven", UNPROVEN)
    # Whoever names a file wants to hear of it: of one that was not looked at nothing is proven.
    unknown = [
        each for each in reports[0].unknown if all(each in other.unknown for other in reports)
    ]
    if as_json:
        _say(json.dumps([_plain(each) for each in reports]))
    else:
        for report in reports:
            for text in _render(report):
                _say(text)
        for path in unknown:
            _say(_clean(f"UNPROVEN  {path} {_UNKNOWN}"))
    if any(each.is_false for each in reports):
        return FALSE
    return UNPROVEN if unknown or not all(each.is_whole for each in reports) else PROVEN


def _refuse(text: str, code: int) -> int:
    """Say on stderr why nothing is told: on stdout somebody may wait for JSON."""
    sys.stderr.write(_encodable(_clean(text)) + "\n")
    return code


def _say(text: str) -> None:
    sys.stdout.write(_encodable(text) + "\n")


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _clean(text: str) -> str:
    """Return a text without anything that a terminal would obey."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)


def _plain(report: Report) -> dict[str, Any]:
    return {
        "receipt": report.path, "sha256": report.sha256,
        "result": "false" if report.is_false else "proven" if report.is_whole else "unproven",
        "workbench_id": report.workbench[0], "checkpoint_id": report.publish[0],
        "log": [{"seq": seq, "hash": value} for seq, value in report.log],
        "faults": list(report.faults),
        "unknown": list(report.unknown),
        "files": [
            {
                "path": each.path, "change": each.change, "faults": list(each.faults),
                "unproven": list(each.unproven), "proven": list(each.proven),
                "parts": [
                    {
                        "part": part.name, "title": part.title, "status": part.status,
                        "by": list(part.by), "lists": dict(part.lists), "note": part.note,
                    }
                    for part in each.parts
                ],
            }
            for each in report.files
        ],
    }  # fmt: skip


def _render(report: Report) -> Iterator[str]:
    yield _clean(
        f"receipt of the publish {report.publish[0]} at {report.publish[1]}, "
        f"workbench {report.workbench[0]} ({report.workbench[1]})"
    )
    for fault in report.faults:
        yield _clean(f"  FALSE     {fault}")
    for file in report.files:
        yield _clean(f"{file.path} ({file.change}): {_result(file)}")
        for text in _render_file(file):
            yield "  " + _clean(text)
    seq, value = report.log[-1]
    yield f"sha256    {report.sha256}: compare it with that of ReceiptMade in the log"
    yield f"head      {seq}:{value}: compare it with `kbd verify WB --head {seq}:...`"
    if report.is_false:
        yield "The receipt and the files DO NOT AGREE."
    elif report.is_whole:
        yield "All that the receipt says of the files is true."
    else:
        yield "Nothing is false, but not all could be checked."


def _result(file: FileFacts) -> str:
    if file.faults:
        return "FALSE"
    return "not all checked" if file.unproven else "proven"


def _render_file(file: FileFacts) -> Iterator[str]:
    for fault in file.faults:
        yield f"FALSE     {fault}"
    for text in file.unproven:
        yield f"UNPROVEN  {text}"
    for text in file.proven:
        yield text
    same = sum(part.status == "identical" for part in file.parts)
    if same:
        yield f"{same} of {len(file.parts)} parts identical"
    for part in file.parts:
        if part.status != "identical":
            yield _render_part(part)


def _render_part(part: PartFacts) -> str:
    title = f" ({part.title})" if part.title else ""
    counts = [
        f"{count} {_NOUNS.get(name, name)}{'' if count == 1 else 's'}"
        for name, count in part.lists
        if count
    ]
    makers = [str(step) for step in part.by if step]
    by = f" by event{'s' if len(makers) > 1 else ''} {', '.join(makers)}" if makers else ""
    told = ": " + ", ".join(counts) if counts else f": {part.note}" if part.note else ""
    return f"{part.name}{title} {part.status}{by}{told}"
