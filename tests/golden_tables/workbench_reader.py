"""Reader of golden tables through kbd's own tools, as a run uses them.

The map tells the columns, their types and the questions, statistics and SQL the figures, which must
agree, and `table_read_rows` the letters. A question is answered by `read_as`, as a person would.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import anyio
import msgspec

from golden_tables.cases import Case, Expected, Kind
from golden_tables.judge import Answer, ReadColumn, Verdict, judge
from kbd.errors import KbdError, ValidationFailed
from kbd.formats import ReadAs
from kbd.plaintext import LOW_CONFIDENCE
from kbd.testing.tools import Workbench
from kbd.tools import Tool
from kbd_csv import CsvFormat
from kbd_ods import OdsFormat
from kbd_tables import kbd_register_tools
from kbd_xlsx import XlsxFormat

__all__ = ["WorkbenchReader", "judged", "offered"]

_KINDS: Mapping[str, Kind] = {
    "integer": "number",
    "float": "number",
    "string": "text",
    "date": "date",
    "datetime": "datetime",
    "boolean": "boolean",
}
_MAX_ROUNDS = 5
"""Of questions about one file; there are six fields to ask for."""


class WorkbenchReader:
    """A workbench of its own, with the table tools and the formats that it reads.

    Args:
        folder: An empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self._workbench = Workbench(folder, [CsvFormat(), XlsxFormat(), OdsFormat()])
        tools = kbd_register_tools({}, self._workbench.formats)
        self._tools: dict[str, Tool] = {tool.name: tool for tool in tools}

    async def verdict(self, case: Case) -> Verdict:
        """Read a case, answer what is asked, and judge it."""
        try:
            answer = await self.read(case, ReadAs())
            answered = [
                (each, await self._answered(case, each, answer))
                for each in (case.tables if case.must_ask else case.tables[:1])
                if answer.questions
            ]
        except Exception as error:  # noqa: BLE001 - one bad file must not hide what others give
            return Verdict(case, "silently wrong", f"raised {error!r:.200}")
        return judge(case, answer, answered)

    async def read(self, case: Case, read_as: ReadAs) -> Answer:
        """Read a case as it is said to be read."""
        self._workbench.add(case.name, case.content)
        try:
            return await self._read(case, read_as)
        except KbdError as error:
            return Answer(refusal=f"{error.code}: {error}")

    async def _answered(self, case: Case, expected: Expected, answer: Answer) -> Answer:
        """Answer the questions, and those that come up then, until none is left."""
        said: dict[str, Any] = {}
        for _ in range(_MAX_ROUNDS):
            new = {}
            for about, _ in answer.questions:
                value = msgspec.to_builtins(expected.answer).get(about)
                if value is None:
                    return Answer(refusal=f"the case has no answer to {about}")
                new[about] = offered(value, case.content, answer.options[about])
                if new[about] is None:
                    return Answer(refusal=f"{about}: {value!r} is not among the options")
            if new.items() <= said.items():
                return answer
            said |= new
            answer = await self.read(case, msgspec.convert(said, ReadAs))
            if answer.refusal or not answer.questions:
                break
        return answer

    async def _call(self, name: str, case: Case, read_as: ReadAs, **more: Any) -> dict[str, Any]:
        said = msgspec.to_builtins(read_as)
        sheet = {"source_sheet": case.sheet} if case.sheet else {}
        arguments = {"path": case.name, "read_as": said, **sheet, **more}
        value = (await self._workbench.call(self._tools[f"table_{name}"], **arguments)).value
        assert isinstance(value, dict)
        return value

    async def _read(self, case: Case, read_as: ReadAs) -> Answer:
        found = await self._call("get_map", case, read_as)
        columns, reading = found["columns"], found.get("reading", {})
        withheld = False
        try:
            figures = await self._figures(case, read_as, columns)
        except ValidationFailed:
            if not reading.get("questions"):
                raise
            # What is open has to be answered first.
            figures, withheld = {}, True
        texts = [each["name"] for each in columns if _KINDS[each["type"]] == "text"]
        letters: dict[str, tuple[str | None, ...]] = {}
        if texts and found["row_count"]:
            rows = await self._call(
                "read_rows", case, read_as, row_start=1, row_count=10_000, columns=texts
            )
            turned = zip(*rows["rows"], strict=True)
            letters = dict(zip(rows["columns"], turned, strict=True))
        warnings = (*found.get("warnings", ()), *figures.pop("warnings", ()))
        return Answer(
            row_count=found["row_count"],
            columns=tuple(
                _column(each, figures.get(each["name"], [0]), letters.get(each["name"], ()))
                for each in columns
            ),
            said=(*warnings, *_told(reading, "left_out")),
            mended=tuple(_told(reading, "repaired")),
            left_out=sum(each["count"] for each in reading.get("left_out", ())),
            questions=tuple(
                (each["about"], tuple(each["columns"])) for each in reading.get("questions", ())
            ),
            options={
                each["about"]: tuple(option["value"] for option in each["options"])
                for each in reading.get("questions", ())
            },
            withheld=withheld,
        )

    async def _figures(
        self, case: Case, read_as: ReadAs, columns: Iterable[Mapping[str, str]]
    ) -> dict[str, Any]:
        """Return the figures of each column, by SQL, and check that the statistics agree."""
        asked, places = ["count(*)"], {}
        for each in columns:
            name = '"' + each["name"].replace('"', '""') + '"'
            places[each["name"]] = len(asked)
            asked.append(f"count({name})")
            if _KINDS[each["type"]] in ("number", "date", "datetime"):
                asked += [f"CAST({part} AS VARCHAR)" for part in (f"min({name})", f"max({name})")]
            if _KINDS[each["type"]] == "number":
                asked += [f"CAST(sum({name}) AS VARCHAR)", f"typeof(sum({name}))"]
        query = f"SELECT {', '.join(asked)} FROM data"
        answer = await self._call("query", case, read_as, query=query)
        row = answer["rows"][0]
        figures: dict[str, Any] = {name: row[place:] for name, place in places.items()}
        statistics = await self._call("stats", case, read_as)
        for each in statistics["columns"]:
            found = figures[each["name"]]
            assert each["non_null_count"] == found[0], f"{case.label}: counts of {each['name']}"
            if _KINDS[each["type"]] == "number" and found[0]:
                difference = abs(Decimal(str(each["sum"])) - Decimal(found[3]))
                room = Decimal("1e-9") * max(Decimal(1), abs(Decimal(found[3])))
                assert difference <= room, f"{case.label}: sums of {each['name']}"
        figures["warnings"] = tuple(statistics.get("warnings", ()))
        return figures


def _column(
    column: Mapping[str, str], figures: list[Any], letters: tuple[str | None, ...]
) -> ReadColumn:
    kind = _KINDS[column["type"]]
    count = figures[0]
    if not count or kind not in ("number", "date", "datetime"):
        return ReadColumn(column["name"], kind, count, texts=letters)
    low, high = figures[1], figures[2]
    if kind != "number":
        return ReadColumn(column["name"], kind, count, low=low, high=high)
    return ReadColumn(
        column["name"],
        kind,
        count,
        total=Decimal(figures[3]),
        low=Decimal(low),
        high=Decimal(high),
        is_exact=figures[4] != "DOUBLE",
    )


def _told(reading: Mapping[str, Any], what: str) -> list[str]:
    """Return in words what a reading says about rows, and that its encoding is a guess."""
    rows = [f"{each['what']} {each.get('sample', '')}" for each in reading.get(what, ())]
    if what == "left_out" and reading.get("encoding_confidence", 1.0) < LOW_CONFIDENCE:
        rows.append("the encoding is a guess")
    return rows


def offered(value: Any, content: bytes, options: Sequence[str]) -> Any:
    """Return the option that means a value, as `ReadAs` takes it; None if there is none.

    Two names of a code page, or two code pages that do not differ in this file, are one answer.
    """
    if isinstance(value, int):
        return value if str(value) in options else None
    if value in options:
        return value
    try:
        wanted = _decoded(content, value)
    except LookupError:
        return None
    return next((each for each in options if _decoded(content, each) == wanted), None)


def _decoded(content: bytes, encoding: str) -> str:
    return content.decode(encoding, "replace").lstrip("\ufeff")


def judged(cases: Iterable[Case], folder: Path) -> list[Verdict]:
    """Read and judge cases in one workbench, in an empty folder."""
    reader = WorkbenchReader(folder)

    async def each() -> list[Verdict]:
        return [await reader.verdict(case) for case in cases]

    return anyio.run(each)
