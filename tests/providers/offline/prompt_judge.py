"""Judge of the prompts: whether what a run led to is what independent SQL over clean tables gives.

An entry of `prompts/requests` says what a person typed and what is right. It is judged so:

- Where it says `sql`, the rows of the statement must be there: as a sheet or file that was written,
  or told in the answer. Any of several statements will do.
- Columns are matched by their values, whatever their headings; but a heading that is the name of
  another expected column is a swapped column, and with `headings` the names must be those expected.
- Rows count as a multiset; with `ordered` the columns in `by` must come in the expected order.
- Figures must be right to the hundredth, shares to the tenth of a percent; texts up to capitals
  and blanks; dates and months in any usual form; nothing more or less than the rows, but for what
  `also` allows: further columns, a row of totals at the end.
- With `split` there must be a sheet or a file for each value of that column, with its rows.
- In words, each expected row must be told; the first figure told that is neither in the request nor
  a count of rows must be an expected one; a listed row that is not expected is wrong.
- `answer = "asks"` wants a question back (a decline will do), `answer = "declines"` a decline.

A run that wrote nothing and says so has declined, which is never wrong.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from providers.offline.prompt_tables import PROMPTS, PromptTables
from providers.offline.prompt_values import agree, figures, folded, readings

__all__ = ["PromptEntry", "PromptOutcome", "Verdict", "judge", "load_entries"]

NO_ROW = "no row is left"
"""What a run says that leaves nothing, for no row is what was asked for."""

Verdict = Literal["right", "asked", "declined", "wrong"]
Rows = Sequence[Sequence[Any]]

MOST_MATCHES = 400
"""So many ways to match columns are tried: more are there only of columns that are all alike."""
_TOTALS = re.compile(r"(grand )?totals?\b|summe\b|gesamt|insgesamt|sum\b|all\b|alle\b")
_COUNTED = re.compile(
    r"\s*(rows?|zeilen?|records?|entries|lines?|datensätze|einträge)\b", re.IGNORECASE
)
_LISTED = re.compile(r"\s*(\||[-*•]\s|\d+[.)]\s)")


class PromptEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request and what is right; see the module for how each is judged.

    Args:
        id: Its name.
        files: The tables that a person gives with it.
        request: What the person types.
        language: "en" or "de".
        kind: What kind of job it is.
        sql: Statements over the clean tables, of which each gives a right result.
        answer: What is right where no rows are.
        ordered, by: Whether the order counts, and of which columns; of none of all.
        split: The column with a sheet or a file for each value.
        exact: Whether capitals and blanks of texts count, too.
        headings: Whether the headings must be the columns' names.
        also: What may be there beside the expected rows.
        shares: Columns that may be fractions or percentages.
        told: The columns that an answer in words must have; empty for all.
    """

    id: str
    files: tuple[str, ...]
    request: str
    language: Literal["en", "de"]
    kind: str
    sql: str | tuple[str, ...] = ()
    answer: Literal["", "asks", "declines"] = ""
    ordered: bool = False
    by: tuple[str, ...] = ()
    split: str = ""
    exact: bool = False
    headings: bool = False
    also: tuple[Literal["columns", "totals row"], ...] = ()
    shares: tuple[str, ...] = ()
    told: tuple[str, ...] = ()

    @property
    def statements(self) -> tuple[str, ...]:
        """The statements that give a right result."""
        return (self.sql,) if isinstance(self.sql, str) else self.sql


class PromptOutcome(msgspec.Struct, frozen=True):
    """What a run led to.

    Args:
        status: How it ended; "failed" counts as declined, for it left nothing.
        files: The rows of each sheet of each file that it wrote; a file without sheets has one, "".
        answer: What it said.
    """

    status: Literal["finished", "asked", "declined", "failed"]
    files: dict[str, dict[str, list[list[Any]]]] = {}
    answer: str = ""


class _Expected(msgspec.Struct, frozen=True):
    """Rows that are expected, under their columns."""

    columns: list[str]
    rows: list[tuple[Any, ...]]

    def without(self, column: str) -> "_Expected":
        """Return them without a column."""
        place = self.columns.index(column)
        rows = [(*row[:place], *row[place + 1 :]) for row in self.rows]
        return _Expected([name for name in self.columns if name != column], rows)

    def only(self, columns: Sequence[str]) -> "_Expected":
        """Return some of the columns."""
        places = [self.columns.index(column) for column in columns]
        return _Expected(
            list(columns), [tuple(row[place] for place in places) for row in self.rows]
        )


def load_entries(folder: Path = PROMPTS) -> list[PromptEntry]:
    """Return all entries of a folder, in the order of its files."""
    found: list[PromptEntry] = []
    for path in sorted((folder / "requests").glob("*.toml")):
        listed = msgspec.toml.decode(path.read_bytes())["request"]
        found += msgspec.convert(listed, list[PromptEntry])
    return found


def judge(entry: PromptEntry, outcome: PromptOutcome, tables: PromptTables) -> Verdict:
    """Say whether an outcome is right, a question, a decline or wrong."""
    match outcome.status:
        case "asked":
            return "right" if entry.answer == "asks" else "asked"
        case "declined" | "failed":
            # On the first of a month nothing is of this month yet, and that is said.
            is_empty = NO_ROW in outcome.answer and any(
                not tables.rows(entry.files, sql)[1] for sql in entry.statements
            )
            return "right" if entry.answer or is_empty else "declined"
        case "finished":
            right = any(
                _is_right(entry, outcome, _Expected(*tables.rows(entry.files, sql)))
                for sql in entry.statements
            )
            return "right" if right else "wrong"


def _is_right(entry: PromptEntry, outcome: PromptOutcome, expected: _Expected) -> bool:
    if entry.split:
        return _is_split(entry, outcome, expected)
    sheets = [rows for file in outcome.files.values() for rows in file.values()]
    return any(_has_rows(entry, rows, expected) for rows in sheets) or (
        not sheets and _tells(entry, outcome.answer, expected)
    )


def _is_split(entry: PromptEntry, outcome: PromptOutcome, expected: _Expected) -> bool:
    """Whether each value has a sheet or a file with just its rows."""
    named = {
        folded(sheet or Path(name).stem): rows
        for name, file in outcome.files.items()
        for sheet, rows in file.items()
    }
    place = expected.columns.index(entry.split)
    for value in {row[place] for row in expected.rows}:
        part = _Expected(expected.columns, [row for row in expected.rows if row[place] == value])
        fits = [rows for name, rows in named.items() if folded(value) in name]
        if not any(
            _has_rows(entry, rows, part) or _has_rows(entry, rows, part.without(entry.split))
            for rows in fits
        ):
            return False
    return True


def _has_rows(entry: PromptEntry, rows: Rows, expected: _Expected) -> bool:
    """Whether a sheet has the expected rows below its headings, above which only titles may be."""
    filled = [row for row in rows if _width(row)]
    for top in range(min(4, len(filled))):
        if top and _width(filled[top - 1]) > 1:
            return False
        header, body = filled[top], filled[top + 1 :]
        if all(figures(str(value)) for value in header):
            return False
        if (
            len(body) == len(expected.rows) + 1
            and "totals row" in entry.also
            and _is_total(body[-1])
        ):
            body = body[:-1]
        if len(body) == len(expected.rows) and _matches(entry, header, body, expected):
            return True
    return False


def _width(row: Sequence[Any]) -> int:
    return sum(value not in {None, ""} for value in row)


def _is_total(row: Sequence[Any]) -> bool:
    return any(isinstance(value, str) and _TOTALS.match(folded(value)) for value in row)


def _matches(entry: PromptEntry, header: Sequence[Any], body: Rows, expected: _Expected) -> bool:
    """Whether some columns below a header are the expected ones, row by row."""
    width = max([len(header), *map(len, body)])
    heads = [folded(value) if value is not None else "" for value in header]
    heads += [""] * (width - len(heads))
    if "columns" not in entry.also and sum(map(bool, heads)) > len(expected.columns):
        return False
    cells = [[row[place] if place < len(row) else None for row in body] for place in range(width)]
    choices = [
        list(_choices(entry, expected, place, heads, cells))
        for place in range(len(expected.columns))
    ]
    for chosen in itertools.islice(itertools.product(*choices), MOST_MATCHES):
        places = [choice.place for choice in chosen]
        if len(set(places)) == len(places) and _same_rows(entry, expected, chosen):
            return True
    return False


class _Choice(msgspec.Struct, frozen=True):
    """A column that an expected one may be, both as comparable values."""

    place: int
    wanted: list[Any]
    found: list[Any]
    close: float


def _choices(
    entry: PromptEntry, expected: _Expected, place: int, heads: list[str], cells: list[list[Any]]
) -> Iterator[_Choice]:
    """Give the columns whose values, in any order, are those of an expected one."""
    name = expected.columns[place]
    names = [folded(column) for column in expected.columns]
    values = [row[place] for row in expected.rows]
    # One that is named alike comes first.
    for column in sorted(range(len(heads)), key=lambda column: heads[column] != names[place]):
        head = heads[column]
        if head != names[place] and (entry.headings or head in names):
            continue
        for wanted, found, close in readings(
            name,
            values,
            cells[column],
            share=name in entry.shares,
            zeros=entry.kind == "pivot",
            exact=entry.exact,
        ):
            pairs = zip(sorted(wanted, key=_order), sorted(found, key=_order), strict=True)
            if all(agree(one, other, close) for one, other in pairs):
                yield _Choice(column, wanted, found, close)
                break


def _order(value: Any) -> tuple[int, Any]:
    return (0, 0) if value is None else (1, value) if isinstance(value, float) else (2, value)


def _same_rows(entry: PromptEntry, expected: _Expected, chosen: Sequence[_Choice]) -> bool:
    """Whether the rows are the same ones, and in the order that counts."""
    wanted = list(zip(*(choice.wanted for choice in chosen), strict=True))
    found = list(zip(*(choice.found for choice in chosen), strict=True))
    closes = [choice.close for choice in chosen]

    def alike(one: Sequence[Any], other: Sequence[Any], places: Sequence[int]) -> bool:
        return all(agree(one[place], other[place], closes[place]) for place in places)

    everywhere = range(len(closes))
    if entry.ordered:
        by = [expected.columns.index(name) for name in entry.by] or list(everywhere)
        if not all(alike(one, other, by) for one, other in zip(wanted, found, strict=True)):
            return False
    left = list(found)
    for row in wanted:
        place = next((at for at, other in enumerate(left) if alike(row, other, everywhere)), None)
        if place is None:
            return False
        del left[place]
    return True


def _tells(entry: PromptEntry, answer: str, expected: _Expected) -> bool:
    """Whether an answer in words tells the expected rows, and no other figure instead of them."""
    if entry.told:
        expected = expected.only(entry.told)
    if len(expected.rows) == 1:
        row = expected.rows[0]
        return _stands_in(entry, expected, row, answer) and _is_first(entry, answer, row)
    blocks = [
        list(lines)
        for is_list, lines in itertools.groupby(
            answer.splitlines(), lambda line: bool(_LISTED.match(line))
        )
        if is_list
    ]
    return any(_lists(entry, block, expected) for block in blocks)


def _lists(entry: PromptEntry, lines: list[str], expected: _Expected) -> bool:
    """Whether a list tells each row on a line of its own, and no further one."""
    left = [line for line in lines if not _is_rule(line)]
    for row in expected.rows:
        place = next(
            (at for at, line in enumerate(left) if _stands_in(entry, expected, row, line)), None
        )
        if place is None:
            return False
        del left[place]
    # A heading and a row of totals may be among them.
    spare = [line for line in left if not _is_total(re.split(r"[|:]\s*|^\s*[-*]\s", line))]
    return len(spare) <= 1 and not any(figures(line) for line in spare)


def _is_rule(line: str) -> bool:
    return set(line) <= set("|-: ")


def _stands_in(entry: PromptEntry, expected: _Expected, row: Sequence[Any], text: str) -> bool:
    """Whether each value of a row stands in a text."""
    told = figures(text)
    words = folded(text)
    for name, value in zip(expected.columns, row, strict=True):
        parts = re.split(r"[|,;:()\n]|\s-\s|\s{2,}", text)
        if value is None:
            continue
        if isinstance(value, str):
            if folded(value) not in words:
                return False
            continue
        spoken = [part for part, _ in told] + [part.strip() for part in parts]
        if not any(
            agree(wanted[0], found[0], close)
            for part in spoken
            for wanted, found, close in readings(name, [value], [part], share=name in entry.shares)
        ):
            return False
    return True


def _is_first(entry: PromptEntry, answer: str, row: Sequence[Any]) -> bool:
    """Whether the first figure that is news is one of those expected."""
    numbers = [
        float(value)
        for value in row
        if isinstance(value, int | float) or hasattr(value, "as_tuple")
    ]
    if not numbers:
        return True
    text = answer
    for name in (*entry.files, *re.findall(r"[\w() -]+\.(?:csv|tsv|xlsx|jsonl?|md)", answer)):
        text = text.replace(name, " ")
    known = {number for _, both in figures(entry.request) for number in both}
    for part, both in figures(text):
        after = text[text.index(part) + len(part) :]
        if any(agree(number, found) for number in numbers for found in both):
            return True
        if not (both & known or _COUNTED.match(after)):
            return False
    return False
