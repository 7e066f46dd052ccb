"""Calls of a format's handler in processes of their own, with little memory and little time.

Run as a program it is the process that forks them: it reads one request a line and writes one
answer a line, both JSON. What a library aborts, exhausts or hangs costs one call, not the tests.
"""

import contextlib
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, product
from pathlib import Path
from typing import Any, Union

import msgspec

from kbd.errors import KbdError, ValidationFailed
from kbd.formats import (
    AssetPick,
    Editable,
    FormatHandler,
    Previewable,
    Readable,
    ReadAs,
    Region,
    Source,
    Styled,
    Tabular,
)
from kbd_xlsx import XlsxFormat

__all__ = [
    "ACTIONS",
    "MODEST_BYTES",
    "Answer",
    "Confined",
    "confined",
    "opened",
    "refused",
]

MEMORY_BYTES = 1536 * 1024 * 1024
SECONDS = 20
_MAX_TOLD = 100_000
MODEST_BYTES = 32 << 20
"""What a small file may cost, whatever it claims."""


class Answer(msgspec.Struct, frozen=True):
    """How a call ended.

    Args:
        kind: "returned", "refused" (a KbdError), "raised" (anything else) or "died".
        text: What it returned, as JSON; or the error's message, or how it died.
        code: The error's code or type.
        cpu_s: Processor time.
        peak_bytes: How much memory the process came to have beyond what it began with.
    """

    kind: str
    text: str = ""
    code: str = ""
    cpu_s: float = 0.0
    peak_bytes: int = 0


WORKBOOK_EDITS: Sequence[dict[str, Any]] = (
    {"op": "set_cells", "sheet": "Data", "cells": [{"cell": "H9", "value": 7}]},
)
_edits: list[dict[str, Any]] = []
"""What is tried on the format's files in this process, each edit alone."""


def _apply(format_: FormatHandler, source: Source) -> Any:
    assert isinstance(format_, Editable)
    found = []
    for wanted in _edits:
        operation = msgspec.convert(wanted, Union[format_.operations])  # noqa: UP007 - made at run time
        with tempfile.TemporaryDirectory() as folder:
            found.append(format_.apply(source, (operation,), Path(folder, source.name)))
    return found


def _all(format_: FormatHandler, source: Source) -> dict[str, str]:
    """Do all that can be done to a document; what is refused is "refused" with the message."""
    found = {}
    deeds = (
        "info", "map", "read", "objects", "passages", "read_table", "apply", "get_styles",
        "copy_assets",
    )  # fmt: skip
    for name in deeds:
        if hasattr(format_, name):
            try:
                done = DEEDS[name](format_, source)
                found[name] = msgspec.json.encode(done).decode()[:_MAX_TOLD]
            except KbdError as error:
                found[name] = f"refused: {error.message}"
    return found


def _read_table(format_: FormatHandler, source: Source) -> Any:
    assert isinstance(format_, Tabular)
    with tempfile.TemporaryDirectory() as folder:
        found = format_.read_table(source, None, ReadAs(), Path(folder, "t.csv"))
        return [found, Path(folder, "t.csv").read_text("utf-8")[:500]]


def _passages(format_: FormatHandler, source: Source) -> Any:
    assert isinstance(format_, Readable)
    return [len(passage.text) for passage in islice(format_.passages(source), 10)]


def _preview(format_: FormatHandler, source: Source) -> Any:
    assert isinstance(format_, Previewable)
    return format_.preview(source, 0, 300)


def _copy_assets(format_: FormatHandler, source: Source) -> Any:
    """Copy the first asset of each kind into a new file, and into the file itself."""
    assert isinstance(format_, Styled)
    assets = format_.get_styles(source, None)["assets"]
    first = {asset["kind"]: asset["asset_id"] for asset in reversed(assets)}
    told: list[str] = []
    for into, asset_id in product((None, source), first.values()):
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder, source.name)
            try:
                told += format_.copy_assets(source, into, (AssetPick(asset_id),), target).changed
            except ValidationFailed as refused:
                told.append(refused.message)
    return told


DEEDS: dict[str, Callable[[Any, Source], Any]] = {
    "map": lambda format_, source: format_.map(source),
    "read": lambda format_, source: format_.read(source, Region()),
    "passages": _passages,
    "read_table": _read_table,
    "apply": _apply,
    "copy_assets": _copy_assets,
    "get_styles": lambda format_, source: format_.get_styles(source, None),
    "info": lambda format_, source: format_.info(source),
    "objects": lambda format_, source: format_.objects(source, Region()),
    "preview": _preview,
    "all": _all,
}
"""What can be done to a file by a handler of its format."""

ACTIONS = ("map", "read", "passages", "read_table", "apply", "get_styles")
"""What is done to a workbook."""


class Confined:
    """Runs actions on files, each in a process of its own."""

    def __init__(self, process: "subprocess.Popen[str]", actions: Sequence[str]) -> None:
        self._process = process
        self.actions = tuple(actions)

    def run(self, path: Path, name: str, actions: Sequence[str]) -> dict[str, Answer]:
        """Run actions on a file, and return how each ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(path), name, list(actions)]) + "\n")
        self._process.stdin.flush()
        return msgspec.json.decode(self._process.stdout.readline(), type=dict[str, Answer])


@contextlib.contextmanager
def confined(
    format_: type[FormatHandler] = XlsxFormat,
    actions: Sequence[str] = ACTIONS,
    edits: Sequence[Mapping[str, Any]] = WORKBOOK_EDITS,
) -> Iterator[Confined]:
    """Start the process that forks, for a format and what is done to its files."""
    told = json.dumps(edits)
    command = [sys.executable, __file__, format_.__module__, format_.__name__, told]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Confined(process, actions)
        assert process.stdin is not None
        process.stdin.close()


def opened(cell: Confined, path: Path, data: bytes, name: str = "a.xlsx") -> dict[str, Answer]:
    """Do everything to a file, and see that nothing went out of hand."""
    path.write_bytes(data)
    found = cell.run(path, name, cell.actions)
    for action, answer in found.items():
        assert answer.kind in ("returned", "refused"), (action, answer)
        assert str(path.parent) not in answer.text, (action, answer)
    return found


def refused(found: dict[str, Answer], words: str, most_bytes: int = MODEST_BYTES) -> None:
    """See that all of it was refused, with the words, at little cost."""
    for action, answer in found.items():
        assert answer.kind == "refused", (action, answer)
        assert words in answer.text, (action, answer)
        assert answer.peak_bytes <= most_bytes, (action, answer)


def _called(format_: FormatHandler, action: str, source: Source) -> Answer:
    before, start = _peak_bytes(), time.process_time()
    try:
        found = DEEDS[action](format_, source)
        answer = Answer("returned", msgspec.json.encode(found).decode())
    except KbdError as error:
        answer = Answer("refused", error.message, error.code)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is the finding
        answer = Answer("raised", repr(error)[:500], type(error).__name__)
    return msgspec.structs.replace(
        answer, cpu_s=time.process_time() - start, peak_bytes=_peak_bytes() - before
    )


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _forked(format_: FormatHandler, action: str, source: Source) -> Answer:
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.alarm(SECONDS)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with open(theirs, "wb") as pipe:
            pipe.write(msgspec.json.encode(_called(format_, action, source)))
        os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(pid, 0)
    if not told:
        code = os.waitstatus_to_exitcode(status)
        return Answer("died", f"by signal {-code}" if code < 0 else f"with {code}")
    return msgspec.json.decode(told, type=Answer)


def main() -> None:
    """Answer requests until there are none."""
    module, name, edits = sys.argv[1:]
    _edits.extend(json.loads(edits))
    format_: FormatHandler = getattr(importlib.import_module(module), name)()
    # What a worker's zygote has loaded, too.
    for module in format_.preload:
        __import__(module)
    for line in sys.stdin:
        path, name, actions = json.loads(line)
        source = Source(Path(path), name)
        found = {action: _forked(format_, action, source) for action in actions}
        sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
