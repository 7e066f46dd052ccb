"""Figures of groups: which columns, headings and orders they have, and the steps that make them."""

from collections.abc import Iterable, Sequence

import msgspec

from kbd.jobs.records import DeriveStep, Figure, GroupStep, SortKey, TableStep
from kbd_offline import expressions
from kbd_offline.clauses import Clauses, FigureClause, KeyClause, OrderClause
from kbd_offline.facts import KnownColumn
from kbd_offline.names import tokens
from kbd_offline.scan import RequestScan, SeveralError, UnclearError, quoted
from kbd_offline.time_rules import moment_of

__all__ = [
    "GroupKey", "counted", "default_number", "derive_keys", "figure_of", "figure_text",
    "group_steps", "keys_of", "order_keys", "resolve_figures",
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
        if not part:
            found.append(GroupKey(column.name, column))
            continue
        if part == "day" and column.type == "date":
            found.append(GroupKey(column.name, column, part="day"))
            continue
        title = expressions.PART_TITLES[part]
        title = f"{title} of {column.name}" if title in names else title
        found.append(GroupKey(title, column, expressions.part_of(column, part), part))
    return found


def derive_keys(keys: Iterable[GroupKey]) -> list[TableStep]:
    """Return the step that makes the columns of parts of dates; none where none is needed."""
    made = {key.name: key.derived for key in keys if key.derived}
    return [DeriveStep(made)] if made else []


def default_number(scan: RequestScan, function: str, place: int) -> KnownColumn:
    """Return the column that a figure without one is of: the only one that fits.

    Raises:
        SeveralError: Several fit.
        UnclearError: None does.
    """
    columns = scan.table.columns
    fitting = [column for column in columns if column.adds_up]
    if not fitting and function not in ("sum", "total"):
        fitting = [c for c in columns if c.is_number and c.role not in ("id", "year", "period")]
    if len(fitting) > 1:
        # What an account holds is no amount of it.
        fitting = [one for one in fitting if not _BALANCES & set(tokens(one.name))] or fitting
    if len(fitting) == 1:
        return fitting[0]
    word = {"sum": "total"}.get(function, function)
    if fitting:
        names = ", ".join(f'"{column.name}"' for column in fitting)
        # Behind the word for the figure, wherever that stands.
        at = min(place, len(scan) - 1)
        options = [
            scan.rewritten(at, at + 1, f"{scan.text(at, at + 1)} {quoted(column.name)}")
            for column in fitting
        ]
        raise SeveralError(f"the {word} may be of {names}", options)
    left = [column for column in columns if column.is_number]
    if left:
        reasons = ", ".join(f'"{column.name}" ({column.role})' for column in left)
        raise UnclearError(
            f"{reasons} does not add up; name the column to have its sum all the same"
        )
    raise UnclearError("no column holds numbers")


def resolve_figures(scan: RequestScan, clauses: Clauses) -> list[FigureClause]:
    """Return the figures with their columns, each once.

    Raises:
        UnclearError: It is not clear what a figure is of.
    """
    numbers = [(c, place) for c, place, _ in clauses.loose if c.is_number and c.role != "id"]
    found: list[FigureClause] = []
    for figure in clauses.figures:
        if figure.of_rows or figure.column is not None:
            _check_numbers(figure)
            found.append(counted(scan, figure))
        elif numbers:
            found += [msgspec.structs.replace(figure, column=column) for column, _ in numbers]
        else:
            column = default_number(scan, figure.function, figure.place)
            found.append(msgspec.structs.replace(figure, column=column))
    used = {one.column.name for one in found if one.column is not None}
    unused = [c for c, _, weak in clauses.loose if not weak and c.is_number and c.role != "id"]
    if clauses.figures and (left := [column for column in unused if column.name not in used]):
        raise UnclearError(f'I do not see what "{left[0].name}" is for')
    if not clauses.figures:
        found += [_loose_figure(scan, column, place) for column, place in numbers]
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
        return FigureClause("sum", column, place=place)
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
    column = figure.subject
    if column is None or figure.function != "count":
        return figure
    rows, different = scan.table.rows, column.distinct
    if different == rows:
        return figure
    at = figure.place
    raise SeveralError(
        f"it may be of the {rows:,} rows, or of the {different:,} different values of"
        f' "{column.name}": say "count rows" or "count different {column.name}"',
        [
            scan.rewritten(at, at + 1, "rows"),
            scan.rewritten(at, at + 1, f"different {quoted(column.name)}"),
        ],
    )


def figure_of(figure: FigureClause, taken: Iterable[str] = ()) -> Figure:
    """Return a figure as a job has it, under a heading that no column has."""
    name = figure_text(figure)
    while name in taken:
        name = f"{name} (figure)"
    column = None if figure.of_rows or figure.column is None else figure.column.name
    return Figure(name, figure.function, column)


def figure_text(figure: FigureClause) -> str:
    """Return the heading of a figure."""
    title = _TITLES[figure.function]
    if figure.of_rows or figure.column is None:
        return "Count"
    return f"{title} {figure.column.name}"


def group_steps(
    clauses: Clauses, keys: Sequence[GroupKey], figures: Sequence[FigureClause]
) -> list[TableStep]:
    """Return the steps that make figures of groups."""
    names = [key.name for key in keys]
    listed = tuple(figure_of(figure, names) for figure in figures)
    return [*derive_keys(keys), GroupStep(listed, tuple(names), exact=clauses.exact)]


def order_keys(
    order: Sequence[OrderClause],
    keys: Sequence[GroupKey],
    figures: Sequence[FigureClause],
) -> tuple[SortKey, ...]:
    """Return the order of figures of groups.

    Raises:
        UnclearError: It sorts by a column that the result does not have.
    """
    names = [key.name for key in keys]
    found = []
    for one in order:
        name = _ordered_name(one, keys, figures, names)
        if name is None:
            column = one.column.name if one.column else "it"
            raise UnclearError(f'the result has no "{column}" to sort by')
        found.append(SortKey(name, bool(one.descending)))
    return tuple(found)


def _ordered_name(
    order: OrderClause,
    keys: Sequence[GroupKey],
    figures: Sequence[FigureClause],
    names: Sequence[str],
) -> str | None:
    made = [figure_of(figure, names).name for figure in figures]
    if order.figure is not None:
        for figure, name in zip(figures, made, strict=True):
            same = order.figure.column is None or order.figure.column == figure.column
            if figure.function == order.figure.function and same:
                return name
        return made[0] if order.figure.column is None and len(made) == 1 else None
    if order.part:
        return next((key.name for key in keys if key.part == order.part), None)
    if order.column is None:
        # The figure is meant; where several are, the first one.
        return made[0] if made else None
    for key in keys:
        if key.column == order.column:
            return key.name
    of_column = [name for f, name in zip(figures, made, strict=True) if f.column == order.column]
    return of_column[0] if len(of_column) == 1 else None
