"""Combination of tables: below each other, joined by a key, compared. Pure.

What is asked of the tables together is read first; what is left of the request is read against the
table that comes of it.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Literal

import msgspec

from kbd.jobs.records import (
    CompareStep,
    Input,
    Job,
    JoinStep,
    ReportStep,
    TableStep,
    UnionStep,
    WriteStep,
)
from kbd_offline.clauses import Clauses
from kbd_offline.composed import Composed
from kbd_offline.composition import compose
from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.grammar import KINDS, read_clauses
from kbd_offline.names import fold, singular, slug, split_suffix, stem, tokens
from kbd_offline.request_files import BOOK_SUFFIX, TABLE_SUFFIXES, FileNames, free_target
from kbd_offline.request_tokens import RequestToken, tokenize
from kbd_offline.scan import Scan, SeveralError, UnclearError
from kbd_offline.single import JobFiles, finish, input_of

__all__ = ["combined"]

_Result = tuple[Job, str, tuple[str, ...]]


def combined(
    request: str,
    tables: Sequence[KnownTable],
    names: FileNames,
    files: JobFiles,
    today: date,
) -> _Result | None:
    """Return the job of a request that puts tables together, None where it is about one.

    Raises:
        SeveralError: It has several readings.
        UnclearError: It has none.
    """
    if len(tables) < 2:
        return None
    scan = Scan(request, tokenize(request, names.spans), _every(tables), today)
    chosen = _meant(scan, tables, names)
    if len(chosen) < 2:
        return None
    work = _Combination(request, scan, chosen, files, today)
    return (
        work.compared()
        or work.without_partner()
        or work.joined()
        or work.united()
        or work.implied(names)
    )


def _every(tables: Sequence[KnownTable]) -> KnownTable:
    """Return the columns of all tables as of one, for words that name any."""
    columns = {column.name: column for table in reversed(tables) for column in table.columns}
    return KnownTable("tables", columns=tuple(columns.values()))


def _meant(scan: Scan, tables: Sequence[KnownTable], names: FileNames) -> list[KnownTable]:
    """Return the tables that are put together, in the order in which they are named, or stand."""
    is_all = any(scan.at(place, "union_all") for place in range(len(scan)))
    if (
        len(names.sources) == 1
        and len(tables) == 2
        and any(scan.at(place, "join_strong", "missing_in") for place in range(len(scan)))
    ):
        # "Look up the city in people.csv": for the other table.
        return [*(t for t in tables if t.path not in names.sources),
                *(t for t in tables if t.path in names.sources)]  # fmt: skip
    if names.sources and not (is_all and len(names.sources) == 1):
        by_path = {path: [t for t in tables if t.path == path] for path in names.sources}
        return [table for path in names.sources for table in by_path[path]]
    words = " ".join(token.word for token in scan.tokens)
    for suffix in ("csv", "tsv", "xlsx", "parquet"):
        fitting = [table for table in tables if table.path.endswith(f".{suffix}")]
        if f"{suffix} file" in words or f"{suffix}s " in words or f"{suffix} datei" in words:
            return fitting
    target = names.target.casefold()
    return [table for table in tables if table.path.casefold() != target]


class _Combination:
    """A request about several tables."""

    def __init__(
        self, request: str, scan: Scan, tables: Sequence[KnownTable], files: JobFiles, today: date
    ) -> None:
        self._request = request
        self._scan = scan
        self._tables = list(tables)
        self._files = files
        self._today = today
        self._used: set[int] = set()
        self._suffix = ""

    def _find(self, *concepts: str) -> int | None:
        """Return the first place of a phrase that is not used yet."""
        for place in range(len(self._scan)):
            if self._scan.at(place, *concepts) and place not in self._used:
                return place
        return None

    def _take(self, place: int | None, *concepts: str) -> None:
        if place is not None:
            self._used |= set(range(place, self._scan.at(place, *concepts)))

    def _take_all(self, *concepts: str) -> bool:
        found = False
        for place in range(len(self._scan)):
            if place not in self._used and self._scan.at(place, *concepts):
                self._take(place, *concepts)
                found = True
        return found

    def _rest(self) -> list[RequestToken]:
        return [token for place, token in enumerate(self._scan.tokens) if place not in self._used]

    def _inputs(self) -> tuple[Input, ...]:
        made: list[Input] = []
        for table in self._tables:
            made.append(input_of(table, {}, [one.name for one in made]))
        return tuple(made)

    def _read_rest(
        self, table: KnownTable, before: tuple[TableStep, ...], told: str, stem_text: str
    ) -> _Result:
        """Read what is left of the request against the table that the steps before make."""
        scan = Scan(self._request, self._rest(), table, self._today)
        clauses = read_clauses(scan)
        clauses.suffix = clauses.suffix or self._suffix
        composed = compose(scan, clauses)
        inputs = self._inputs()
        if not composed.steps and composed.split is None:
            return self._whole(scan, clauses, before, told, stem_text)
        job, words, notes = finish(
            scan, clauses, composed, inputs, before, self._files, stem=stem_text
        )
        return msgspec.structs.replace(job, title=f"{told}; {words}"), f"{told}; {words}", notes

    def _whole(
        self, scan: Scan, clauses: Clauses, before: tuple[TableStep, ...], told: str, stem_text: str
    ) -> _Result:
        composed = Composed((), told, "")
        asked = clauses.suffix or split_suffix(self._files.target)[1]
        kinds = {split_suffix(table.path)[1] for table in self._tables}
        plain = kinds.pop() if len(kinds) == 1 and kinds <= set(TABLE_SUFFIXES) else BOOK_SUFFIX
        suffix = asked or plain
        files = self._files
        target = files.target or free_target(f"{stem_text}{suffix}", files.taken, files.today)
        if not split_suffix(target)[1]:
            target += suffix
        if target.casefold() in {path.casefold() for path in files.taken}:
            raise UnclearError(f"{target} is in the workbench already: name another result")
        sheet = "Sheet1" if split_suffix(target)[1] == BOOK_SUFFIX else None
        words = f"{composed.words}, in {target}"
        job = Job(self._inputs(), (*before, WriteStep(target, sheet)), title=words)
        return job, words, scan.corrections

    def united(self) -> _Result | None:
        """Read "merge all csv files into one"."""
        verb = self._find("union", "union_strong")
        if verb is None:
            return None
        named = any(token.kind == "file" for token in self._scan.tokens)
        spoken = self._find("union_all")
        if not named and spoken is None and self._find("union_suffix") is None:
            return None
        starts = self._scan.skip(verb, "det", "filler")
        if verb > 3 and starts == verb and not self._scan.at(verb, "union_strong"):
            return None
        tables = self._tables
        self._note_kind()
        self._take_all("origin") if (origin := self._find("origin")) is not None else None
        has_gaps = self._take_all("gaps")
        self._take_all("union", "union_strong", "union_all", "union_suffix")
        for place, token in enumerate(self._scan.tokens):
            if token.kind == "file":
                self._used.add(place)
        columns = self._united_columns(tables, has_gaps=has_gaps)
        labels = tuple(one.name for one in self._inputs())
        name = "Source" if origin is not None else None
        step = UnionStep(labels, name, "empty" if has_gaps else "refuse", make="merged")
        known = KnownTable(
            "merged", columns=(*columns, *((KnownColumn("Source"),) if name else ())),
            rows=sum(table.rows for table in tables),
        )  # fmt: skip
        told = f"The rows of {', '.join(table.label for table in tables)} below each other"
        told += ", with the file of each" if name else ""
        return self._read_rest(known, (step,), told, _united_stem(tables))

    def _note_kind(self) -> None:
        """Note what kind of file is asked for, before "into one" is taken for the tables."""
        for place in range(len(self._scan)):
            leads = self._scan.at(place, "as_kind")
            for concept, suffix in KINDS if leads else ():
                if end := self._scan.at(leads, concept):
                    self._suffix = suffix
                    self._used |= set(range(place, end))

    def _united_columns(
        self, tables: Sequence[KnownTable], *, has_gaps: bool
    ) -> tuple[KnownColumn, ...]:
        """Return the columns of tables below each other, matched by name whatever case and signs.

        Raises:
            UnclearError: A column is missing somewhere, or the tables have none in common.
        """
        found: dict[str, KnownColumn] = {}
        counts: dict[str, int] = {}
        for table in tables:
            for column in table.columns:
                key = "".join(tokens(column.name))
                known = found.setdefault(key, column)
                values = {**column.values, **known.values}
                found[key] = msgspec.structs.replace(
                    known, values=values, distinct=known.distinct + column.distinct
                    if known is not column else known.distinct,
                    filled=known.filled + column.filled if known is not column else known.filled,
                    minimum=min(filter(None, (known.minimum, column.minimum)), default=""),
                    maximum=max(filter(None, (known.maximum, column.maximum)), default=""),
                    is_listed=known.is_listed and column.is_listed,
                )  # fmt: skip
                counts[key] = counts.get(key, 0) + 1
        if not any(count == len(tables) for count in counts.values()):
            raise UnclearError("the tables have no column in common")
        for key, count in counts.items():
            if count < len(tables) and not has_gaps:
                names = {
                    t.label
                    for t in tables
                    if all("".join(tokens(c.name)) != key for c in t.columns)
                }
                raise UnclearError(
                    f'{min(names)} has no column "{found[key].name}";'
                    ' say "missing columns stay empty"'
                )
        return tuple(found.values())

    def _other(self, place: int) -> KnownTable | None:
        """Return the table whose file stands at a place."""
        token = self._scan.tokens[place] if place < len(self._scan) else None
        if token is None:
            return None
        if token.kind == "file":
            return next((table for table in self._tables if table.path == token.text), None)
        if token.kind == "word":
            named = [
                t for t in self._tables if stem(token.word) in {stem(w) for w in _stem_words(t)}
            ]
            return named[0] if len(named) == 1 else None
        return None

    def _key(self, left: KnownTable, right: KnownTable) -> dict[str, str] | None:
        """Return the key that two tables are matched by: the named one, else the evident one.

        Raises:
            SeveralError: Several columns may be the key.
        """
        named = self._named_key(left, right)
        if named is not None:
            return named
        shared = [
            (mine, theirs) for mine in left.columns for theirs in right.columns
            if tokens(mine.name) == tokens(theirs.name)
        ]  # fmt: skip
        unique = [pair for pair in shared if _is_unique(pair[1], right)]
        ids = [pair for pair in unique if pair[1].role == "id" or "id" in tokens(pair[1].name)]
        unique = ids if len(ids) == 1 else unique
        if not unique:
            unique = _foreign_keys(left, right)
        if len(unique) > 1:
            pairs = " or ".join(f'"{mine.name}"' for mine, _ in unique)
            request = self._request.rstrip(" .!?")
            raise SeveralError(
                f"the key may be {pairs}", [f'{request} on "{mine.name}"' for mine, _ in unique]
            )
        return {mine.name: theirs.name for mine, theirs in unique} or None

    def _named_key(self, left: KnownTable, right: KnownTable) -> dict[str, str] | None:
        mine_scan = Scan(self._request, self._scan.tokens, left, self._today)
        their_scan = Scan(self._request, self._scan.tokens, right, self._today)
        for place in range(len(self._scan)):
            end = self._scan.at(place, "match_on")
            if not end or place in self._used:
                continue
            if self._scan.word(place) in ("by", "nach") and any(map(self._is_figure, range(place))):
                # "Merge all and total amount by name": what the total is by.
                continue
            at = self._scan.skip(end, "det")
            mine, theirs = mine_scan.column(at), their_scan.column(at)
            if mine is None and theirs is None:
                continue
            if mine is not None and (
                self._scan.word(mine.end) == "=" or self._scan.word(mine.end) == "and"
            ):
                theirs = their_scan.column(mine.end + 1) or theirs
            if mine is None or theirs is None or mine.level > 1 or theirs.level > 1:
                continue
            self._used |= set(range(place, max(mine.end, theirs.end)))
            return {mine.columns[0].name: theirs.columns[0].name}
        return None

    def _is_figure(self, place: int) -> bool:
        return bool(self._scan.at(place, "sum", "average", "count", "how_many", "top", "share"))

    def joined(self) -> _Result | None:
        """Read "join a and b on id", "add the names from customers.csv"."""
        if len(self._tables) != 2:
            return None
        strong, weak = self._find("join_strong"), self._find("join")
        left, right = self._tables
        added: list[str] = []
        if strong is None and weak is not None:
            found = self._added(weak)
            if found is not None:
                left, right, added = found
            elif self._named_key_there(left, right):
                strong = weak
        if strong is not None and not added:
            found = self._added(strong)
            if found is not None:
                left, right, added = found
        if strong is None and not added:
            return None
        key = self._key(left, right)
        if key is None or not all(_is_unique(_column(right, one), right) for one in key.values()):
            swapped = self._key(right, left) if not added else None
            if swapped and all(_is_unique(_column(left, one), left) for one in swapped.values()):
                left, right, key = right, left, swapped
            elif key is None:
                raise UnclearError(
                    f"{left.label} and {right.label} have no column that is evidently the key:"
                    ' say "on COLUMN"'
                )
            else:
                (name,) = list(key.values())[:1]
                raise UnclearError(f'several rows of {right.label} have the same "{name}"')
        kind: Literal["inner", "left"] = "inner" if self._take_all("inner") else "left"
        self._take_all("join_strong")
        if weak is not None:
            self._take(weak, "join")
        return self._join(left, right, key, added, kind)

    def _named_key_there(self, left: KnownTable, right: KnownTable) -> bool:
        before = set(self._used)
        found = self._named_key(left, right)
        self._used = before
        return found is not None

    def _added(self, verb: int) -> tuple[KnownTable, KnownTable, list[str]] | None:
        """Read "add the city and phone from customers.csv": which columns of which table."""
        end = self._scan.at(verb, "join", "join_strong")
        for right in self._tables:
            theirs = Scan(self._request, self._scan.tokens, right, self._today)
            at = theirs.skip(end, "det")
            mentions, behind = theirs.column_list(at)
            if not mentions:
                continue
            source = behind
            while (
                source < len(self._scan)
                and self._other(source) is not right
                and (self._scan.at(source, "det", "filler", "by") or theirs.column(source))
            ):
                source += 1
            if self._other(source) is not right or source == behind:
                continue
            left = next(table for table in self._tables if table is not right)
            names = [theirs.only(mention).name for mention in mentions]
            self._used |= set(range(verb, source + 1))
            return left, right, names
        return None

    def _join(
        self,
        left: KnownTable,
        right: KnownTable,
        key: dict[str, str],
        added: Sequence[str],
        kind: Literal["inner", "left"],
    ) -> _Result:
        both = {*_stem_words(left), *_stem_words(right)}
        for place, token in enumerate(self._scan.tokens):
            if token.kind == "file" or (token.word in both and _beside_join(self._scan, place)):
                self._used.add(place)
        inputs = {
            table.label: source.name
            for table, source in zip(self._tables, self._inputs(), strict=True)
        }
        own = {fold(column.name) for column in left.columns}
        others = [
            c
            for c in right.columns
            if c.name not in key.values() and (not added or c.name in added)
        ]
        columns = [column for column in others if fold(column.name) not in own]
        step = JoinStep(
            inputs[right.label], key, kind,
            tuple(column.name for column in columns), of=inputs[left.label], make="joined",
        )  # fmt: skip
        known = msgspec.structs.replace(
            left, columns=(*left.columns, *(msgspec.structs.replace(c, filled=0) for c in columns))
        )
        on = ", ".join(
            f"{mine}" if mine == theirs else f"{mine} = {theirs}" for mine, theirs in key.items()
        )
        told = f"{left.label} with {', '.join(c.name for c in columns)} of {right.label} by {on}"
        stem_text = f"{_stem(left)}-with-{_stem(right)}"
        return self._read_rest(known, (step,), told, stem_text)

    def without_partner(self) -> _Result | None:
        """Read "which rows of a.csv are not in b.csv"."""
        if len(self._tables) != 2:
            return None
        for place in range(len(self._scan)):
            end = self._scan.at(place, "missing_in")
            right = self._other(self._scan.skip(end, "det", "filler")) if end else None
            if right is None:
                continue
            at = self._scan.skip(end, "det", "filler")
            left = next(table for table in self._tables if table is not right)
            key = self._key(left, right) or self._key(right, left)
            if key is None:
                shared = [c.name for c in left.columns if _has(right, c.name)]
                if len(shared) != 1:
                    raise UnclearError(
                        f'{left.label} and {right.label} have no evident key: say "on COLUMN"'
                    )
                key = {shared[0]: shared[0]}
            elif not _has(left, next(iter(key))):
                key = {theirs: mine for mine, theirs in key.items()}
            self._used |= set(range(place, at + 1))
            for other, token in enumerate(self._scan.tokens):
                if token.kind == "file" or (token.kind == "word" and self._other(other) is left):
                    self._used.add(other)
            inputs = {t.label: i.name for t, i in zip(self._tables, self._inputs(), strict=True)}
            step = JoinStep(
                inputs[right.label],
                key,
                "missing",
                many=True,
                of=inputs[left.label],
                make="missing",
            )
            told = f"The rows of {left.label} whose {', '.join(key)} is not in {right.label}"
            return self._read_rest(left, (step,), told, f"{_stem(left)}-not-in-{_stem(right)}")
        return None

    def compared(self) -> _Result | None:
        """Read "what changed between old.csv and new.csv"."""
        place = self._find("compare")
        if place is None or len(self._tables) != 2:
            return None
        if (
            not any(token.kind == "file" for token in self._scan.tokens)
            and self._find("union_all") is None
        ):
            return None
        old, new = self._tables
        key = self._named_key(old, new)
        if key is None:
            shared = [c for c in old.columns if _has(new, c.name)]
            unique = [
                c for c in shared if _is_unique(c, old) and _is_unique(_column(new, c.name), new)
            ]
            ids = [c for c in unique if c.role == "id" or "id" in tokens(c.name)]
            unique = ids if len(ids) == 1 else unique
            if not unique:
                raise UnclearError(
                    f"{old.label} and {new.label} share no column that is unique in both:"
                    ' say "on COLUMN"'
                )
            if len(unique) > 1:
                request = self._request.rstrip(" .!?")
                names = " or ".join(f'"{c.name}"' for c in unique)
                raise SeveralError(
                    f"the key may be {names}", [f'{request} on "{c.name}"' for c in unique]
                )
            key = {unique[0].name: unique[0].name}
        self._take_all("compare")
        self._take_all("between_files", "union_all", "between")
        for at, token in enumerate(self._scan.tokens):
            if token.kind == "file":
                self._used.add(at)
        on = tuple(key)
        inputs = self._inputs()
        step = CompareStep(inputs[1].name, on, of=inputs[0].name, make="changes")
        told = f"What changed from {old.label} to {new.label} by {', '.join(on)}"
        scan = Scan(self._request, self._rest(), KnownTable("changes"), self._today)
        clauses = read_clauses(scan)
        stem_text = f"{_stem(old)}-{_stem(new)}-changes"
        if clauses.is_question and not self._files.target and not clauses.suffix:
            return Job(inputs, (step, ReportStep()), title=told), told, ()
        if not clauses.suffix and not self._files.target:
            clauses.suffix = BOOK_SUFFIX
        return self._whole(scan, clauses, (step,), told, stem_text)

    def implied(self, names: FileNames) -> _Result | None:
        """Read a request that names columns of two tables, which have an evident key."""
        if len(self._tables) != 2 or (names.sources and len(names.sources) != 2):
            return None
        if any(self._reads_alone(table) for table in self._tables):
            return None
        for left, right in (self._tables, self._tables[::-1]):
            used = set(self._used)
            try:
                key = self._key(left, right)
                if key is None or not all(
                    _is_unique(_column(right, k), right) for k in key.values()
                ):
                    continue
                return self._join(left, right, key, (), "left")
            except UnclearError:
                self._used = used
        return None

    def _reads_alone(self, table: KnownTable) -> bool:
        found = [token for token in self._scan.tokens if token.kind != "file"]
        scan = Scan(self._request, found, table, self._today)
        try:
            compose(scan, read_clauses(scan))
        except SeveralError:
            return True
        except UnclearError:
            return False
        return True


def _beside_join(scan: Scan, place: int) -> bool:
    before = scan.word(place - 1)
    is_behind = scan.at(place - 1, "join_strong", "and") or before in (
        "with",
        "to",
        "mit",
        "von",
        "from",
    )
    return bool(is_behind or scan.at(place + 1, "and"))


def _stem(table: KnownTable) -> str:
    return slug(table.sheet or split_suffix(table.path.rpartition("/")[2])[0])


def _stem_words(table: KnownTable) -> Iterable[str]:
    return tokens(table.sheet or split_suffix(table.path.rpartition("/")[2])[0])


def _united_stem(tables: Sequence[KnownTable]) -> str:
    """Return a name for tables together: what their names have in common."""
    first, *others = [_stem(table).split("-") for table in tables]
    shared = [part for part in first if all(part in other for other in others)]
    return "-".join([*shared, "merged"])


def _column(table: KnownTable, name: str) -> KnownColumn:
    return next(column for column in table.columns if tokens(column.name) == tokens(name))


def _has(table: KnownTable, name: str) -> bool:
    return any(tokens(column.name) == tokens(name) for column in table.columns)


def _is_unique(column: KnownColumn, table: KnownTable) -> bool:
    return column.distinct == table.rows == column.filled and table.rows > 0


def _foreign_keys(left: KnownTable, right: KnownTable) -> list[tuple[KnownColumn, KnownColumn]]:
    """Return keys that are called by the other table: `customer_id` for the `id` of customers."""
    thing = {singular(word) for word in _stem_words(right)}
    found = []
    for theirs in right.columns:
        if not _is_unique(theirs, right):
            continue
        for mine in left.columns:
            words = tokens(mine.name)
            own = tokens(theirs.name)
            is_called = (
                words[-len(own) :] == own and {singular(w) for w in words[: -len(own)]} & thing
            )
            is_thing = {singular(word) for word in words} <= thing and "id" not in own
            if is_called or (is_thing and own == ("name",)):
                found.append((mine, theirs))
    return found
