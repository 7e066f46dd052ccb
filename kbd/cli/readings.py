"""How tables are to be read: said by arguments, or asked before a run that would tell figures."""

import argparse
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from kbd.cli.exits import CONFIRMATION_NEEDED, FAILED, RequestRefused, Stop
from kbd.cli.link import call
from kbd.cli.terminal import ask_text, is_interactive, note
from kbd.client.blocking import Client

__all__ = ["add_reading_arguments", "is_conversion", "reading_params", "settle_readings"]

_TABLES = frozenset(("table",))
"""Kinds of files of which a whole reading can be said at once."""
_Named = tuple[str, str | None]
"""A table: its file, and its sheet where that is named."""


_WORDS = re.compile(r"\"[^\"\n]+\"|[^\s\",;]+")
_NAME = re.compile(r"\".+\"|\S+\.\w{2,7}")
_VERBS = frozenset(("convert", "turn", "transform", "export", "save", "copy", "change"))
_THINGS_TEXT = """
the this that these all each every both my it its them of and file files table tables sheet sheets
workbook workbooks book books spreadsheet spreadsheets
"""
_THINGS = frozenset(_THINGS_TEXT.split())
_FIGURES = ("total", "sum", "subtotal", "average", "mean", "count", "percent")


def is_conversion(job: str) -> bool:
    """Tell whether a job is, word for word, that tables go over whole into another kind of file.

    No row of them is left out then, so that nothing hangs on which of them are totals.
    """
    words = _WORDS.findall(job.casefold().strip().rstrip(".!"))
    leads = [place for place, word in enumerate(words) if word in ("to", "into", "as")]
    if len(leads) != 1:
        return False
    before, behind = words[: leads[0]], words[leads[0] + 1 :]
    before = before[1:] if before[:1] == ["please"] else before
    things = before[1:] if before and before[0] in _VERBS else before
    if len(behind) > 1 and behind[-2] in ("called", "named"):
        behind = behind[:-2]
    kinds = [word for word in behind if word not in ("a", "an", "one", "new")]
    kinds = kinds[:1] if kinds[1:] and set(kinds[1:]) <= _THINGS else kinds
    return (
        len(kinds) == 1
        and (_NAME.fullmatch(kinds[0]) is not None or kinds[0].isalpha())
        and not kinds[0].startswith(_FIGURES)
        and all(word in _THINGS or _NAME.fullmatch(word) for word in things)
    )


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
    client: Client, workbench_id: str, given: Mapping[str, Any], job: str = ""
) -> None:
    """Say what is given of each table, and ask a person what has to be said beside it.

    Args:
        client: The connection.
        workbench_id: The workbench.
        given: A plain `ReadAs`; empty to say nothing.
        job: What is to be done; what makes no difference to it is not asked.

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
    answered: set[tuple[str, str]] = set()
    left_open = "totals" if is_conversion(job) else ""
    while asked := [
        question
        for question in call(client, "WorkbenchGetQuestions", named, slow=True)["questions"]
        if question["about"] != left_open
    ]:
        asked = _about_job(client, workbench_id, asked, files, job)
        if not asked:
            return
        first = asked[0]
        path, about = first["path"], first["about"]
        if (path, about) in answered:
            raise Stop(f"{path} still asks after the answer: {first['text']}", FAILED)
        answered.add((path, about))
        # Of a workbook nothing is said before it asks: most of it is no table.
        answer = given[about] if about in given else _answered(first)
        _say(client, workbench_id, path, said, {about: answer})


_EVERY = re.compile(
    r"\b(?:all|every|each|both|these|those)\s+(?:the\s+)?(?:\w+\s+)?"
    r"(?:files?|tables?|workbooks?|spreadsheets?|csvs?|lists?)\b"
)
"""Words of a job on more than the tables that it names."""

_TOGETHER = re.compile(
    r"\b(?:merg|combin|join|append|stack|concat|consolidat|unit|profil|compar)\w*\b|\btogether\b"
)
"""Words of a job that may be on all tables where it names none."""

_MAX_TABLES = 20
"""Tables whose columns are looked at, to tell which of them a job is about."""


def _about_job(
    client: Client,
    workbench_id: str,
    asked: Sequence[dict[str, Any]],
    files: Sequence[Mapping[str, Any]],
    job: str,
) -> list[dict[str, Any]]:
    """Return the questions about the tables that a job reads; all where its words do not tell.

    One that is left out for nothing is asked by the tool that reads its table: no figure is told
    before the answer.
    """
    text = job.casefold()
    if len(files) < 2 or not text or _EVERY.search(text):
        return list(asked)
    if meant := _named_in(text, [str(file["path"]) for file in files]):
        return [question for question in asked if question["path"] in meant]
    tables = _tables_of(asked, files)
    if len(tables) > _MAX_TABLES or _TOGETHER.search(text):
        return list(asked)
    known = {table: _named_columns(client, workbench_id, table, text) for table in tables}
    wanted = frozenset[str]().union(*known.values())
    # Those that have all columns that the job names; of a join each has some.
    most = [table for table, found in known.items() if found == wanted]
    kept = most or [table for table, found in known.items() if found]
    return [question for question in asked if _table_of(question) in kept]


def _named_in(text: str, paths: Sequence[str]) -> list[str]:
    """Return the files that a text names with their suffix; then others by their names alone."""
    names = {path: path.rpartition("/")[2].casefold() for path in paths}
    if not any(_stands(name, text) for name in names.values()):
        return []
    return [
        path
        for path, name in names.items()
        if _stands(name, text) or _stands(name.rpartition(".")[0], text)
    ]


def _stands(name: str, text: str) -> bool:
    """Tell whether a name stands in a text, and is not within a longer word."""
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", text) is not None


def _tables_of(
    asked: Sequence[Mapping[str, Any]], files: Sequence[Mapping[str, Any]]
) -> list[_Named]:
    """Return the tables that are asked about, and the text tables beside them."""
    plain = [(str(file["path"]), None) for file in files if file["file_kind"] in _TABLES]
    return list(dict.fromkeys([*map(_table_of, asked), *plain]))


def _table_of(question: Mapping[str, Any]) -> _Named:
    return str(question["path"]), question.get("sheet")


def _named_columns(client: Client, workbench_id: str, table: _Named, text: str) -> frozenset[str]:
    """Return the columns of a table that a text names; none of one that cannot be read."""
    path, sheet = table
    params = {"workbench_id": workbench_id, "path": path}
    if sheet is not None:
        params["source_sheet"] = sheet
    try:
        columns = call(client, "TabularGetMap", params, slow=True)["columns"]
    except RequestRefused:
        return frozenset()
    names = (str(column["name"]).casefold() for column in columns)
    return frozenset(name for name in names if _stands(name, text))


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
