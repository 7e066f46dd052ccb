"""Tables together: a request about several, of which words are used up one after the other. Pure.

What is asked of the tables as such is read first; what is left of the request is read against the
table that comes of it, so that no word is passed over.
"""

from collections.abc import Iterable, Sequence
from datetime import date

import msgspec

from kbd.jobs.records import (
    DeriveStep,
    FilterStep,
    GroupStep,
    Input,
    Job,
    SortStep,
    TableStep,
    TopStep,
    WriteStep,
)
from kbd_offline.clauses import Clauses
from kbd_offline.column_rules import KINDS
from kbd_offline.composed_job import ComposedJob
from kbd_offline.composition import compose
from kbd_offline.evident_keys import table_words, thing_meanings, things
from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.lexicon import LEXICON
from kbd_offline.mentions import PART, SAME
from kbd_offline.names import singular, slug, split_suffix, stem
from kbd_offline.reading import read_clauses
from kbd_offline.request_files import BOOK_SUFFIX, TABLE_SUFFIXES, free_target
from kbd_offline.request_tokens import RequestToken
from kbd_offline.scan import RequestScan, UnclearError
from kbd_offline.single import JobFiles, finish, input_of

__all__ = ["Result", "TablesTogether", "passed_over", "stem_of"]

Result = tuple[Job, str, tuple[str, ...]]
"""A job, it in words, and what must be said beside it."""


class TablesTogether:
    """A request about several tables.

    Args:
        scan: The request against the columns of all.
        tables: The tables.
        files: The files of the job.
        today: The day that "last month" goes by.
    """

    def __init__(
        self, scan: RequestScan, tables: Sequence[KnownTable], files: JobFiles, today: date
    ) -> None:
        self.scan = scan
        self.request = scan.request
        self.tables = list(tables)
        self.files = files
        self.today = today
        self.used: set[int] = set()
        self.notes: list[str] = []
        self.suffix = ""

    def find(self, *concepts: str) -> int | None:
        """Return the first place of a phrase that is not used yet."""
        for place in range(len(self.scan)):
            if self.scan.at(place, *concepts) and place not in self.used:
                return place
        return None

    def take(self, place: int | None, *concepts: str) -> None:
        """Use the phrase at a place."""
        if place is not None:
            self.used |= set(range(place, self.scan.at(place, *concepts)))

    def take_all(self, *concepts: str) -> bool:
        """Use all phrases of some concepts; tell whether there were any."""
        found = False
        for place in range(len(self.scan)):
            if place not in self.used and self.scan.at(place, *concepts):
                self.take(place, *concepts)
                found = True
        return found

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

    def rest(self) -> list[RequestToken]:
        """Return the tokens that are not used."""
        return [token for place, token in enumerate(self.scan.tokens) if place not in self.used]

    def against(self, table: KnownTable) -> RequestScan:
        """Return the whole request against a table."""
        return RequestScan(self.request, self.scan.tokens, table, self.today)

    def inputs(self) -> tuple[Input, ...]:
        """Return the tables as inputs of a job."""
        made: list[Input] = []
        for table in self.tables:
            made.append(input_of(table, {}, [one.name for one in made]))
        return tuple(made)

    def label(self, table: KnownTable) -> str:
        """Return what steps call a table."""
        return self.inputs()[self.tables.index(table)].name

    def is_called(self, table: KnownTable, place: int) -> bool:
        """Tell whether a word says what the rows of a table are called."""
        if self.scan.kind(place) != "word":
            return False
        word = self.scan.word(place).removesuffix("'s").removesuffix("s'")
        meanings = LEXICON.meanings.get(singular(word)) or LEXICON.meanings.get(word, frozenset())
        return stem(word) in {stem(one) for one in things(table)} or bool(
            meanings & thing_meanings(table) & _THINGS
        )

    def other(self, place: int) -> KnownTable | None:
        """Return the table whose file stands at a place, or whose name is a word there."""
        token = self.scan.tokens[place] if 0 <= place < len(self.scan) else None
        if token is None:
            return None
        if token.kind == "file":
            return next((table for table in self.tables if table.path == token.text), None)
        if token.kind == "word":
            named = [
                t for t in self.tables if stem(token.word) in {stem(w) for w in table_words(t)}
            ]
            return named[0] if len(named) == 1 else None
        return None

    def read_rest(
        self,
        table: KnownTable,
        before: tuple[TableStep, ...],
        told: str,
        stem_text: str,
        *,
        nouns: Iterable[str] = (),
        owners: Iterable[str] = (),
        beside: Sequence[KnownColumn] = (),
        key: str = "",
        has_totals: bool = True,
    ) -> Result:
        """Read what is left of the request against the table that the steps before make.

        Args:
            table: That table.
            before: The steps.
            told: They in words.
            stem_text: What the result is called by.
            nouns: What its rows may be called, beside the name of the table.
            owners: What the key is a key of.
            beside: Columns that go with each value of the key where rows are grouped by that.
            key: The key.
            has_totals: Whether figures have a row of totals, if it is not asked for.

        Raises:
            UnclearError: What is left has no reading.
        """
        scan = RequestScan(
            self.request, self.rest(), table, self.today, nouns=nouns,
            owners={stem(word): key for word in owners},
        )  # fmt: skip
        clauses = read_clauses(scan)
        clauses.suffix = clauses.suffix or self.suffix
        _check_listed(scan, clauses, key)
        composed = compose(scan, clauses)
        if beside:
            composed = _with_beside(composed, key, beside)
        if not has_totals and not clauses.has_totals:
            form = msgspec.structs.replace(composed.form, totals={})
            composed = msgspec.structs.replace(composed, form=form)
        if not composed.steps and composed.split is None:
            return self.whole(scan, clauses, before, told, stem_text)
        job, words, notes = finish(
            scan, clauses, composed, self.inputs(), before, self.files, stem=stem_text
        )
        words = f"{told}; {words}"
        return msgspec.structs.replace(job, title=words), words, (*self.notes, *notes)

    def whole(
        self,
        scan: RequestScan,
        clauses: Clauses,
        before: tuple[TableStep, ...],
        told: str,
        stem_text: str,
    ) -> Result:
        """Return the job that writes the table of the steps as it is.

        Raises:
            UnclearError: The file is there already.
        """
        asked = clauses.suffix or split_suffix(self.files.target)[1]
        kinds = {split_suffix(table.path)[1] for table in self.tables}
        plain = kinds.pop() if len(kinds) == 1 and kinds <= set(TABLE_SUFFIXES) else BOOK_SUFFIX
        suffix = asked or plain
        files = self.files
        target = files.target or free_target(f"{stem_text}{suffix}", files.taken, files.today)
        if not split_suffix(target)[1]:
            target += suffix
        if target.casefold() in {path.casefold() for path in files.taken}:
            raise UnclearError(f"{target} is in the workbench already: name another result")
        sheet = "Sheet1" if split_suffix(target)[1] == BOOK_SUFFIX else None
        words = f"{told}, in {target}"
        job = Job(self.inputs(), (*before, WriteStep(target, sheet)), title=words)
        return job, words, (*self.notes, *scan.corrections)


_FIGURES = (
    "sum", "average", "count", "how_many", "median", "share", "most",
)  # fmt: skip
_THINGS = frozenset(("customer", "supplier", "product", "person", "order", "invoice"))
"""What rows may be, by whatever word."""


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
    fillers = [
        place for place in range(len(alone))
        if alone.at(place, "filler") and alone.column(place) is None
        and alone.value(place) is None and not alone.is_noun(place)
    ]  # fmt: skip
    parts = [
        place for place in range(len(alone))
        if (mine := alone.column(place)) is not None and mine.level >= PART
        and alone.value(place) is None and not alone.is_noun(place)
    ]  # fmt: skip
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
    steps = tuple(
        msgspec.structs.replace(step, by=(*step.by, *(n for n in names if n not in step.by)))
        if isinstance(step, GroupStep)
        else step
        for step in composed.steps
    )
    words = f"{composed.words}, with {', '.join(names)}"
    return msgspec.structs.replace(composed, steps=steps, words=words)


_KEEPING = (FilterStep, SortStep, TopStep, DeriveStep)
"""Steps that leave the columns of rows as they are."""
