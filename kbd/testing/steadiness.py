"""Determinism check: the same call twice gives the same bytes, for authors of formats and tools.

    def test_the_same_twice(tmp_path):
        check_steady(TomlFormat(), {"a.toml": b"a = 1"}, tmp_path)

A recorded run is proven by doing its calls again, later and in other processes. So nothing that a
call returns or writes may hang on the clock, on chance, on the order of a set, or on where it runs.
"""

import hashlib
import json
import os
import pkgutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Union

import msgspec

from kbd.errors import KbdError
from kbd.formats import (
    AssetPick,
    Celled,
    Composed,
    Editable,
    FormatHandler,
    LaidOut,
    Mappable,
    Placement,
    Previewable,
    Readable,
    ReadAs,
    Region,
    Source,
    Styled,
    Tabular,
)
from kbd.testing.promises import ZONE, elsewhere, expect
from kbd.testing.tools import Workbench
from kbd.tools import Tool, ToolResult

__all__ = ["check_call", "check_steady", "main"]

_CLOCK_S = 2
"""What a zip tells of the time: two seconds at a time."""
_PREVIEW_PX = 32
_MAX_PASSAGES = 200
_MAX_ASSETS = 3

Edit = Sequence[Mapping[str, Any]]


def check_steady(
    handler: FormatHandler,
    samples: Mapping[str, bytes | Path],
    tmp: Path,
    *,
    edits: Sequence[Edit] = (),
    rows: Path | None = None,
) -> None:
    """Check that all that a handler returns and writes is the same in another process, later.

    The other process has another hash seed, time zone, locale and folder; its clock has gone on.

    Args:
        handler: The handler; its class must be found by its name and need no arguments.
        samples: Files by name: their bytes, or where they are.
        tmp: An empty folder to work in.
        edits: Calls that make a new file, for a handler that is `Editable`.
        rows: Rows to write, as `kbd.testing.formats.write_rows` makes them, for a `Tabular` one.

    Raises:
        AssertionError: Something differs; the message says what.
    """
    files = {}
    for count, (name, sample) in enumerate(samples.items()):
        path = tmp / f"sample{count}"
        path.write_bytes(sample if isinstance(sample, bytes) else sample.read_bytes())
        files[name] = str(path)
    order = {
        "handler": f"{type(handler).__module__}:{type(handler).__qualname__}",
        "files": files,
        "edits": [list(edit) for edit in edits],
        "rows": None if rows is None else str(rows),
    }
    began = time.time()
    here = _digests(handler, order, tmp / "here")
    while int(time.time() / _CLOCK_S) == int(began / _CLOCK_S):
        time.sleep(0.05)
    there = _in_another_process(order, tmp / "other place")
    for what, digest in here.items():
        expect(f"{handler.name}: {what} is the same each time", kept=there.get(what) == digest)


async def check_call(
    make: Callable[[Path], Workbench], tool: Tool, tmp: Path, **arguments: Any
) -> ToolResult:
    """Call a tool in two workbenches alike, the second time elsewhere, and return its result.

    Args:
        make: Makes a workbench in an empty folder, with its files.
        tool: The tool.
        tmp: An empty folder to work in.
        arguments: The call's.

    Raises:
        AssertionError: What it returned, less what it declares as measured, or wrote differs.
        KbdError: What the tool raised.
    """
    first, second = make(tmp / "first"), make(tmp / "second")
    result = await first.call(tool, **arguments)
    with elsewhere():
        again = await second.call(tool, **arguments)
    expect(f"{tool.name} measures the same fields", kept=again.measured == result.measured)
    expect(f"{tool.name} returns the same each time", kept=_kept(again) == _kept(result))
    names = first.files.names()
    expect(f"{tool.name} writes the same files", kept=second.files.names() == names)
    for name in names:
        is_same = first.content(name) == second.content(name)
        expect(f"{tool.name} writes {name} the same each time", kept=is_same)
    return result


def main() -> None:
    """Take an order on standard input and print the digests: the other process."""
    order = json.load(sys.stdin)
    handler = pkgutil.resolve_name(order["handler"])()
    json.dump(_digests(handler, order, Path.cwd() / "there"), sys.stdout)


def _kept(result: ToolResult) -> bytes:
    """Return a result as JSON, less what no second call can return."""
    value = result.value
    if isinstance(value, dict):
        value = {name: each for name, each in value.items() if name not in result.measured}
    return msgspec.json.encode([value, result.summary])


def _in_another_process(order: dict[str, Any], folder: Path) -> dict[str, str]:
    folder.mkdir()
    paths = [path for path in sys.path if path]
    code = f"import sys; sys.path[:0] = {paths!r}; from {__name__} import main; main()"
    environment = {**os.environ, "PYTHONHASHSEED": "4000000000", "TZ": ZONE, "LC_ALL": "C"}
    ran = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(order), capture_output=True, text=True,
        cwd=folder, env=environment, check=False,
    )  # fmt: skip
    expect(f"it works in another process: {ran.stderr[-1000:]}", kept=ran.returncode == 0)
    found: dict[str, str] = json.loads(ran.stdout)
    return found


def _digests(handler: FormatHandler, order: dict[str, Any], folder: Path) -> dict[str, str]:
    """Return a hash of everything that can be asked and made."""
    folder.mkdir()
    asked: dict[str, Callable[[], Any]] = {}
    for count, (name, path) in enumerate(order["files"].items()):
        source = Source(Path(path), name)
        asked |= {
            f"{name}: {what}": ask
            for what, ask in _questions(handler, source, folder / f"out{count}").items()
        }
    if isinstance(handler, Editable):
        vocabulary = Union[handler.operations]  # type: ignore[name-defined]  # noqa: UP007
        for count, edit in enumerate(order["edits"]):
            operations = tuple(msgspec.convert(edit, list[vocabulary]))
            asked[f"edit {count}"] = _writing(handler.apply, None, operations, folder / "edit")
    if isinstance(handler, Tabular) and order["rows"] is not None:
        for suffix in handler.suffixes:
            target = folder / f"rows{suffix}"
            write = handler.write_table
            asked[f"rows{suffix}"] = _writing(write, None, Path(order["rows"]), Placement(), target)
    return {what: _digest(ask) for what, ask in asked.items()}


def _questions(
    handler: FormatHandler, source: Source, target: Path
) -> dict[str, Callable[[], Any]]:
    asked: dict[str, Callable[[], Any]] = {"info": lambda: handler.info(source)}
    if isinstance(handler, Mappable):
        asked["map"] = lambda: handler.map(source)
    if isinstance(handler, Readable):
        asked["read"] = lambda: handler.read(source, Region())
        asked["passages"] = lambda: list(islice(handler.passages(source), _MAX_PASSAGES))
    if isinstance(handler, Celled):
        asked["cells"] = lambda: handler.cells(source, Region())
    if isinstance(handler, Composed):
        asked["objects"] = lambda: handler.objects(source, Region())
    if isinstance(handler, LaidOut):
        asked["tables"] = lambda: handler.layout(source, Region(), "tables")
        asked["text"] = lambda: handler.layout(source, Region(), "text")
    if isinstance(handler, Previewable):
        asked["preview"] = lambda: handler.preview(source, 0, _PREVIEW_PX)
    if isinstance(handler, Styled):
        asked["styles"] = lambda: handler.get_styles(source, None)
        asked["assets"] = lambda: _copied(handler, source, target)
    if isinstance(handler, Tabular):
        asked["table"] = _writing(handler.read_table, source, None, ReadAs(), target)
    return asked


def _copied(handler: Styled, source: Source, target: Path) -> Any:
    assets = handler.get_styles(source, None).get("assets") or ()
    picks = tuple(AssetPick(each["asset_id"]) for each in assets[:_MAX_ASSETS])
    return _writing(handler.copy_assets, source, None, picks, target)()


def _writing(work: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    """Return a call that writes to its last argument, and answers what was written, too."""

    def ask() -> Any:
        target: Path = arguments[-1]
        target.unlink(missing_ok=True)
        return [work(*arguments), hashlib.sha256(target.read_bytes()).hexdigest()]

    return ask


def _digest(ask: Callable[[], Any]) -> str:
    """Return the hash of an answer, or the error in words."""
    try:
        answer = ask()
    except KbdError as error:
        return f"{error.code}: {error.message}"
    return hashlib.sha256(msgspec.json.encode(answer)).hexdigest()
