"""Tables together: a request about several, of which words are used up one after the other. Pure.

What is asked of the tables as such is read first; what is left of the request is read against the
table that comes of it, so that no word is passed over.
"""

from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec

from kbd.jobs.records import (
    DeriveStep,
    FilterStep,
    GroupStep,
    Input,
    Job,
    SortStep,
    Step,
    TableStep,
    TopStep,
    WriteStep,
)
from kbd_offline.clauses import Clauses
from kbd_offline.column_rules import KINDS
from kbd_offline.composed_job import ComposedJob
from kbd_offline.composition import compose
from kbd_offline.evident_keys import table_words
from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.mentions import PART, SAME
from kbd_offline.names import slug, split_suffix, stem
from kbd_offline.reading import read_clauses
from kbd_offline.request_files import BOOK_SUFFIX, TABLE_SUFFIXES, free_target
from kbd_offline.scan import RequestScan, SeveralError, UnclearError
from kbd_offline.single import JobFiles, finish, input_of
from kbd_offline.table_scan import TablesScan

__all__ = [
    "Result", "TableMade", "TablesTogether", "grouped_by", "passed_over", "stem_of", "which_key",
]  # fmt: skip

AnyStep = TypeVar("AnyStep", bound=Step)

Result = tuple[Job, str, tuple[str, ...]]
"""A job, it in words, and what must be said beside it."""


class TableMade(msgspec.Struct, frozen=True):
    """A table that is made of several.

    Args:
        table: It.
        steps: What makes it.
        told: They in words.
        stem: What the result is called by.
        nouns: What its rows may be called, beside the name of the table.
        owners: What the key is a key of.
        key: The column by which rows belong together, "" for none that is asked of.
        beside: Columns that go with each value of the key where rows are grouped by that.
        has_totals: Whether figures have a row of totals, if it is not asked for.
    """

    table: KnownTable
    steps: tuple[TableStep, ...]
    told: str
    stem: str
    nouns: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    key: str = ""
    beside: tuple[KnownColumn, ...] = ()
    has_totals: bool = True


class TablesTogether:
    """A request about several tables.

    Args:
        scan: The request against the columns of all.
        files: The files of the job.
    """

    def __init__(self, scan: TablesScan, files: JobFiles) -> None:
        self.scan = scan
        self.tables = list(scan.tables)
        self.files = files
        self.used: set[int] = set()
        self.notes: list[str] = []
        self.suffix = ""

    def ways(self) -> Iterator[tuple[KnownTable, KnownTable]]:
        """Yield the two tables as the left and the right one, and the other way round."""
        first, second = self.tables
        yield first, second
        yield second, first

    def find(self, *concepts: str) -> int | None:
        """Return the first place of a phrase that is not used yet."""
        places = (at for at in range(len(self.scan)) if self.scan.at(at, *concepts))
        return next((at for at in places if at not in self.used), None)

    def take(self, *concepts: str) -> bool:
        """Use all phrases of some concepts; tell whether there were any."""
        before = len(self.used)
        while (place := self.find(*concepts)) is not None:
            self.used |= set(range(place, self.scan.at(place, *concepts)))
        return len(self.used) > before

    def take_kind(self) -> None:
        """Use what kind of file is asked for, before "into one" is taken for the tables."""
        for place in range(len(self.scan)):
            leads = self.scan.at(place, "as_kind")
            for concept, suffix in KINDS.items() if leads else ():
                if end := self.scan.at(leads, concept):
                    self.suffix = suffix
                    self.used |= set(range(place, end))

    def take_files(self) -> None:
        """Use the names of files."""
        self.used |= {at for at, token in enumerate(self.scan.tokens) if token.kind == "file"}

    def inputs(self) -> tuple[Input, ...]:
        """Return the tables as inputs of a job."""
        made: list[Input] = []
        for table in self.tables:
            made.append(input_of(table, {}, [one.name for one in made]))
        return tuple(made)

    def label(self, table: KnownTable) -> str:
        """Return what steps call a table."""
        return self.inputs()[self.tables.index(table)].name

    def rest(self, made: TableMade) -> RequestScan:
        """Return what is left of the request against the table that is made."""
        left = [token for place, token in enumerate(self.scan.tokens) if place not in self.used]
        owners = {stem(word): made.key for word in made.owners}
        scan = self.scan
        return RequestScan(
            scan.request, left, made.table, scan.today, nouns=made.nouns, owners=owners
        )

    def read_rest(self, made: TableMade) -> Result:
        """Read what is left of the request against the table that is made.

        Raises:
            UnclearError: What is left has no reading.
        """
        scan = self.rest(made)
        clauses = read_clauses(scan)
        clauses.suffix = clauses.suffix or self.suffix
        _check_listed(scan, clauses, made.key)
        composed = compose(scan, clauses)
        if made.beside:
            composed = _with_beside(composed, made.key, made.beside)
        if not made.has_totals and not clauses.has_totals:
            form = msgspec.structs.replace(composed.form, totals={})
            composed = msgspec.structs.replace(composed, form=form)
        if not composed.steps and composed.split is None:
            return self._whole(scan, clauses, made)
        job, words, notes = finish(
            scan, clauses, composed, self.inputs(), made.steps, self.files, stem=made.stem
        )
        words = f"{made.told}; {words}"
        return msgspec.structs.replace(job, title=words), words, (*self.notes, *notes)

    def _whole(self, scan: RequestScan, clauses: Clauses, made: TableMade) -> Result:
        """Return the job that writes the table as it is.

        Raises:
            UnclearError: The file is there already.
        """
        asked = clauses.suffix or split_suffix(self.files.target)[1]
        kinds = {split_suffix(table.path)[1] for table in self.tables}
        plain = kinds.pop() if len(kinds) == 1 and kinds <= set(TABLE_SUFFIXES) else BOOK_SUFFIX
        files, suffix = self.files, asked or plain
        target = files.target or free_target(f"{made.stem}{suffix}", files.taken, files.today)
        if not split_suffix(target)[1]:
            target += suffix
        if target.casefold() in {path.casefold() for path in files.taken}:
            raise UnclearError(f"{target} is in the workbench already: name another result")
        sheet = "Sheet1" if split_suffix(target)[1] == BOOK_SUFFIX else None
        words = f"{made.told}, in {target}"
        job = Job(self.inputs(), (*made.steps, WriteStep(target, sheet)), title=words)
        return job, words, (*self.notes, *scan.corrections)


def which_key(scan: RequestScan, keys: Sequence[KnownColumn]) -> SeveralError:
    """Return the question which of several columns is the key."""
    request = scan.request.rstrip(" .!?")
    names = [f'"{column.name}"' for column in keys]
    return SeveralError(
        f"the key may be {' or '.join(names)}", [f"{request} on {n}" for n in names]
    )


_FIGURES = (
    "sum", "average", "count", "how_many", "median", "share", "most",
)  # fmt: skip


def _check_listed(scan: RequestScan, clauses: Clauses, key: str) -> None:
    """Check that a list of tenants is not taken for one of their numbers.

    Raises:
        UnclearError: The key is chosen, and nothing is worked out by it.
    """
    if clauses.figures or clauses.keys or clauses.rank or clauses.unique_list or not key:
        return
    chosen = [*clauses.selected, *(one.column for one in clauses.loose)]
    said = any(scan.text(place, place + 1) == key for place in range(len(scan)))
    if any(column.name == key for column in chosen) and not said:
        raise UnclearError(f'it may be "{key}" that is listed, or other columns: name them')


def passed_over(scan: RequestScan, table: KnownTable, tables: Sequence[KnownTable]) -> str:
    """Return what means nothing to a table and is a column of another one, "" for nothing."""
    alone = RequestScan(scan.request, scan.tokens, table, scan.today)
    plain = [at for at in range(len(alone)) if alone.value(at) is None and not alone.is_noun(at)]
    columns = {at: alone.column(at) for at in plain}
    fillers = [at for at, mine in columns.items() if alone.at(at, "filler") and mine is None]
    parts = [at for at, mine in columns.items() if mine is not None and mine.level >= PART]
    names = {column.name for column in table.columns}
    is_list = not any(alone.at(place, "by", *_FIGURES) for place in range(len(alone)))
    for other in tables if fillers or parts or is_list else ():
        if other is table:
            continue
        called = {stem(word) for word in table_words(other)} - {stem(w) for w in table_words(table)}
        for place in range(len(alone)) if is_list else ():
            mention = alone.column(place)
            if mention is not None and mention.level > SAME and stem(alone.word(place)) in called:
                # A list of tenants is no list of their numbers in another table.
                return f'"{scan.text(place, place + 1)}" is what {other.label} has'
        named = RequestScan(scan.request, scan.tokens, other, scan.today)
        for place in (*fillers, *parts):
            mention = named.column(place)
            if mention is not None and mention.level == SAME and not any(
                column.name in names for column in mention.columns
            ):  # fmt: skip
                return f'"{scan.text(place, mention.end)}" is a column of {other.label} alone'
    return ""


def stem_of(table: KnownTable) -> str:
    """Return a table's name as a part of a file's name."""
    return slug(table.sheet or split_suffix(table.path.rpartition("/")[2])[0])


def _with_beside(composed: ComposedJob, key: str, beside: Sequence[KnownColumn]) -> ComposedJob:
    """Return steps whose groups by a key tell what goes with it, too; rows have it already.

    Raises:
        UnclearError: Rows are grouped by something else.
    """
    names = tuple(column.name for column in beside)
    groups = [step for step in composed.steps if not isinstance(step, _KEEPING)]
    if not groups:
        return composed
    if len(groups) > 1 or not isinstance(groups[0], GroupStep) or key not in groups[0].by:
        raise UnclearError(f'I do not see what "{names[0]}" is for')
    steps = grouped_by(composed.steps, behind=names)
    words = f"{composed.words}, with {', '.join(names)}"
    return msgspec.structs.replace(composed, steps=steps, words=words)


_KEEPING = (FilterStep, SortStep, TopStep, DeriveStep)
"""Steps that leave the columns of rows as they are."""


def grouped_by(
    steps: Sequence[AnyStep], *, first: Sequence[str] = (), behind: Sequence[str] = ()
) -> tuple[AnyStep, ...]:
    """Return steps whose groups are by other columns, too: before their own, or behind."""
    return tuple(
        msgspec.structs.replace(step, by=tuple(dict.fromkeys((*first, *step.by, *behind))))
        if isinstance(step, GroupStep)
        else step
        for step in steps
    )
