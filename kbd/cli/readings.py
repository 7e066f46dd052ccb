"""How tables are to be read: said by arguments, or asked before a run that would tell figures."""

import argparse
from collections.abc import Mapping
from typing import Any, Protocol

from kbd.cli.exits import CONFIRMATION_NEEDED, FAILED, Stop
from kbd.cli.link import call
from kbd.cli.terminal import ask_text, is_interactive, note
from kbd.client.blocking import Client

__all__ = ["add_reading_arguments", "reading_params", "settle_readings"]

_TABLES = frozenset(("table",))
"""Kinds of files of which a whole reading can be said at once."""


class _Arguments(Protocol):
    """What takes arguments: a parser, or a group of one."""

    def add_argument(self, *names: str, **options: Any) -> Any:
        """Add an argument."""


def add_reading_arguments(parser: _Arguments) -> None:
    """Add the arguments that say how tables are to be read."""
    parser.add_argument("--encoding", metavar="NAME", help="of text tables, as cp1252")
    parser.add_argument("--delimiter", metavar="CHAR", help="of text tables, as ';'")
    parser.add_argument("--header-row", type=int, metavar="N", help="row of the names; 0: none")
    parser.add_argument("--decimal", choices=(".", ","), help="decimal mark of numbers")
    parser.add_argument("--date-order", choices=("dmy", "mdy", "ymd"), help="as in 1/2/2024")
    totals = ("leave_out", "leave_out_proven", "keep")
    parser.add_argument("--totals", choices=totals, help="rows of sums in tables")


def reading_params(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what the arguments say, as a plain `ReadAs`."""
    given = {
        "encoding": arguments.encoding,
        "delimiter": arguments.delimiter,
        "header_row": arguments.header_row,
        "decimal": arguments.decimal,
        "date_order": arguments.date_order,
        "totals": arguments.totals,
    }
    return {name: value for name, value in given.items() if value is not None}


def settle_readings(
    client: Client, workbench_id: str, given: Mapping[str, Any], job: str | None = ""
) -> None:
    """Say what is given of each table, and ask a person what has to be said beside it.

    Args:
        client: The connection.
        workbench_id: The workbench.
        given: A plain `ReadAs`; empty to say nothing.
        job: What is to be done; what makes no difference to it is not asked. None for what says
            itself how its tables are read: nothing is asked then.

    Raises:
        Stop: Nobody can be asked; the message has the question, and the arguments that answer it.
    """
    named = {"workbench_id": workbench_id}
    said: dict[str, dict[str, Any]] = {}
    files = call(client, "WorkbenchFilesList", named)["files"]
    for file in files:
        said[file["path"]] = dict(file.get("read_as", {}))
        if given and file["file_kind"] in _TABLES:
            _say(client, workbench_id, file["path"], said, given)
    if job is None:
        return
    answered: set[tuple[str, str]] = set()
    about_job = {**named, "job": job} if job else named
    while asked := call(client, "WorkbenchGetQuestions", about_job, slow=True)["questions"]:
        first = asked[0]
        path, about = first["path"], first["about"]
        if (path, about) in answered:
            raise Stop(f"{path} still asks after the answer: {first['text']}", FAILED)
        answered.add((path, about))
        # Of a workbook nothing is said before it asks: most of it is no table.
        answer = given[about] if about in given else _answered(first)
        _say(client, workbench_id, path, said, {about: answer})


def _say(
    client: Client,
    workbench_id: str,
    path: str,
    said: dict[str, dict[str, Any]],
    more: Mapping[str, Any],
) -> None:
    said[path] |= more
    params = {"workbench_id": workbench_id, "path": path, "read_as": said[path]}
    call(client, "WorkbenchFilesSetReading", params)


def _answered(question: Mapping[str, Any]) -> str | int:
    """Return a person's answer to a question: one of its options.

    Raises:
        Stop: Nobody can be asked, or no option was chosen.
    """
    where = question["path"] + (f", sheet {question['sheet']}" if "sheet" in question else "")
    options = question["options"]
    note(f"{where}: {question['text']}")
    for number, option in enumerate(options, 1):
        note(f"  {number}  {option['value']}   {option['meaning']}")
    flag = f"--{question['about'].replace('_', '-')}"
    choices = " or ".join(f"{flag} {option['value']}" for option in options)
    if not is_interactive():
        raise Stop(
            f"nobody can be asked here, so nothing is done; say {choices}", CONFIRMATION_NEEDED
        )
    answer = ask_text(f"Which? (1-{len(options)}) ").strip()
    by_answer = {option["value"]: option["value"] for option in options}
    # The numbers last: a value may be one, as that of a row, and the number was asked for.
    by_answer |= {str(number): option["value"] for number, option in enumerate(options, 1)}
    if answer not in by_answer:
        raise Stop(f"that is no answer, so nothing is done; say {choices}", CONFIRMATION_NEEDED)
    value = str(by_answer[answer])
    return int(value) if question["about"] == "header_row" else value
