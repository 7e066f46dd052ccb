"""Figures of groups: which columns, headings and orders they have, and the steps that make them."""

from collections.abc import Iterable, Sequence

import msgspec

from kbd.jobs.records import DeriveStep, Figure, GroupStep, SortKey, TableStep
from kbd_offline import expressions
from kbd_offline.clauses import Clauses, FigureClause, KeyClause, OrderClause, sum_of
from kbd_offline.facts import KnownColumn
from kbd_offline.names import slug, tokens
from kbd_offline.scan import RequestScan, SeveralError, UnclearError, quoted
from kbd_offline.time_rules import moment_of

__all__ = [
    "GroupKey", "Groups", "counted", "default_number", "figure_text", "keys_of", "money_of",
    "resolve_figures", "resolved",
]  # fmt: skip

_TITLES = {
    "sum": "Total", "average": "Average", "minimum": "Minimum", "maximum": "Maximum",
    "median": "Median", "distinct": "Different", "count": "Count",
}  # fmt: skip
_BALANCES = frozenset(["balance", "saldo", "kontostand"])


class GroupKey(msgspec.Struct, frozen=True):
    """A column to group by, with the step that makes it, if one does."""

    name: str
    column: KnownColumn
    derived: str = ""
    part: str = ""


class Groups(msgspec.Struct, frozen=True):
    """Rows in groups: what they are by, and their figures."""

    keys: Sequence[GroupKey]
    figures: Sequence[FigureClause] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns they are by."""
        return tuple(key.name for key in self.keys)

    @property
    def text(self) -> str:
        """What they are by in words."""
        return f" by {', '.join(self.names)}" if self.keys else ""

    @property
    def slug(self) -> str:
        """What they are by as a part of a file's name."""
        return "-".join(map(slug, self.names))

    @property
    def headings(self) -> list[str]:
        """The headings of the figures."""
        return [self.made(figure).name for figure in self.figures]

    def made(self, figure: FigureClause) -> Figure:
        """Return a figure as a job has it, under a heading that no key has."""
        name = figure_text(figure)
        while name in self.names:
            name = f"{name} (figure)"
        column = None if figure.of_rows or figure.column is None else figure.column.name
        return Figure(name, figure.function, column)

    @property
    def derived(self) -> list[TableStep]:
        """The step that makes the columns of parts of dates; none where none is needed."""
        made = {key.name: key.derived for key in self.keys if key.derived}
        return [DeriveStep(made)] if made else []

    def steps(self, *, exact: bool) -> list[TableStep]:
        """Return the steps that make the figures."""
        return [*self.derived, GroupStep(tuple(map(self.made, self.figures)), self.names, exact)]

    def order(self, order: Sequence[OrderClause]) -> tuple[SortKey, ...]:
        """Return an order of the groups.

        Raises:
            UnclearError: It sorts by a column that the result does not have.
        """
        found = []
        for one in order:
            name = self._ordered(one)
            if name is None:
                column = one.column.name if one.column else "it"
                raise UnclearError(f'the result has no "{column}" to sort by')
            found.append(SortKey(name, bool(one.descending)))
        return tuple(found)

    def _ordered(self, order: OrderClause) -> str | None:
        made = list(zip(self.figures, self.headings, strict=True))
        if order.part:
            return next((key.name for key in self.keys if key.part == order.part), None)
        asked, column = order.figure, order.column
        if asked is not None:
            of = [name for one, name in made if one.function == asked.function and (
                asked.column in (None, one.column)
            )]  # fmt: skip
            only = made[0][1] if asked.column is None and len(made) == 1 else None
            return of[0] if of else only
        if column is None:
            # The figure is meant; where several are, the first one.
            return made[0][1] if made else None
        named = [key.name for key in self.keys if key.column == column]
        of = [name for one, name in made if one.column == column]
        return named[0] if named else of[0] if len(of) == 1 else None


def keys_of(scan: RequestScan, keys: Iterable[KeyClause]) -> list[GroupKey]:
    """Return the columns that keys group by; parts of dates are columns to be made.

    Raises:
        UnclearError: It is not clear which date is meant.
    """
    found: list[GroupKey] = []
    names = {column.name for column in scan.table.columns}
    for key in keys:
        column = key.column or moment_of(scan)
        part = key.part or ("day" if column.type == "datetime" else "")
        if not part or (part == "day" and column.type == "date"):
            found.append(GroupKey(column.name, column, part=part))
            continue
        title = expressions.PART_TITLES[part]
        title = f"{title} of {column.name}" if title in names else title
        found.append(GroupKey(title, column, expressions.part_of(column, part), part))
    return found


def money_of(scan: RequestScan) -> list[KnownColumn]:
    """Return the columns of amounts of money."""
    return [one for one in scan.vocabulary.meaning("money", "revenue", "cost") if one.adds_up]


def default_number(scan: RequestScan, function: str, place: int) -> KnownColumn:
    """Return the column that a figure without one is of: the only one that fits.

    Raises:
        SeveralError: Several fit.
        UnclearError: None does.
    """
    fitting = scan.table.sums
    left = [column for column in scan.table.columns if column.is_number]
    if not fitting and function != "sum":
        fitting = [one for one in left if one.role not in ("id", "year", "period")]
    if len(fitting) > 1:
        # What an account holds is no amount of it.
        fitting = [one for one in fitting if not _BALANCES & set(tokens(one.name))] or fitting
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = ", ".join(f'"{column.name}"' for column in fitting)
        # Behind the word for the figure, wherever that stands.
        at = min(place, len(scan) - 1)
        word = "total" if function == "sum" else function
        raise SeveralError(
            f"the {word} may be of {names}",
            [scan.rewritten(at, at + 1, f"{scan.text(at, at + 1)} {quoted(column.name)}")
             for column in fitting],
        )  # fmt: skip
    if left:
        reasons = ", ".join(f'"{column.name}" ({column.role})' for column in left)
        raise UnclearError(
            f"{reasons} does not add up; name the column to have its sum all the same"
        )
    raise UnclearError("no column holds numbers")


def resolved(scan: RequestScan, figure: FigureClause) -> FigureClause:
    """Return a figure with its column.

    Raises:
        UnclearError: It is not clear what it is of.
    """
    subject = figure.subject
    if figure.of_rows or figure.column is not None:
        return counted(scan, figure)
    if subject is not None and subject.distinct != scan.table.rows:
        raise SeveralError(f'it may be of rows, or of different values of "{subject.name}"', [])
    if figure.function == "count":
        return msgspec.structs.replace(figure, of_rows=True)
    column = default_number(scan, figure.function, figure.place)
    return msgspec.structs.replace(figure, column=column)


def resolve_figures(scan: RequestScan, clauses: Clauses) -> list[FigureClause]:
    """Return the figures with their columns, each once.

    Raises:
        UnclearError: It is not clear what a figure is of.
    """
    found: list[FigureClause] = []
    for figure in clauses.figures:
        if figure.of_rows or figure.column is not None:
            _check_numbers(figure)
            found.append(counted(scan, figure))
        elif clauses.amounts:
            found += [msgspec.structs.replace(figure, column=o.column) for o in clauses.amounts]
        else:
            column = default_number(scan, figure.function, figure.place)
            found.append(msgspec.structs.replace(figure, column=column))
    used = {one.column.name for one in found if one.column is not None}
    for loose in clauses.amounts if clauses.figures else ():
        if not loose.is_weak and loose.column.name not in used:
            raise UnclearError(f'I do not see what "{loose.column.name}" is for')
    if not clauses.figures:
        found = [_loose_figure(scan, one.column, one.place) for one in clauses.amounts]
    once = {(one.function, one.column.name if one.column else ""): one for one in found}
    return list(once.values())


def _check_numbers(figure: FigureClause) -> None:
    column = figure.column
    if column is None or column.is_number or figure.function in ("count", "distinct"):
        return
    if not column.is_moment or figure.function not in ("minimum", "maximum"):
        why = f": {column.why_text}" if column.why_text else ""
        raise UnclearError(f'"{column.name}" holds no numbers{why}')


def _loose_figure(scan: RequestScan, column: KnownColumn, place: int) -> FigureClause:
    if column.adds_up:
        return sum_of(column, place)
    raise SeveralError(
        f'"{column.name}" ({column.role}) does not add up',
        [scan.rewritten(place, place + 1, f"{word} {scan.text(place, place + 1)}")
         for word in ("average", "maximum", "total")],
    )  # fmt: skip


def counted(scan: RequestScan, figure: FigureClause) -> FigureClause:
    """Return a count of what a column names, where it is that of the rows.

    Raises:
        SeveralError: Some values are there more than once, or some are empty.
    """
    column, rows, at = figure.subject, scan.table.rows, figure.place
    if column is None or column.distinct == rows:
        return figure
    raise SeveralError(
        f"it may be of the {rows:,} rows, or of the {column.distinct:,} different values of"
        f' "{column.name}": say "count rows" or "count different {column.name}"',
        [scan.rewritten(at, at + 1, one) for one in ("rows", f"different {quoted(column.name)}")],
    )


def figure_text(figure: FigureClause) -> str:
    """Return the heading of a figure."""
    if figure.of_rows or figure.column is None:
        return "Count"
    return f"{_TITLES[figure.function]} {figure.column.name}"
