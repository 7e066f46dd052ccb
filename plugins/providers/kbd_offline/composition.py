"""Composition of a job out of the clauses of a request: its steps, in words and in order. Pure."""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from kbd.jobs.records import (
    DeduplicateStep,
    DeriveStep,
    FilterStep,
    PivotStep,
    RunningStep,
    SelectStep,
    ShareStep,
    SheetForm,
    SortKey,
    SortStep,
    TableStep,
    TopStep,
)
from kbd_offline import expressions
from kbd_offline.clauses import Clauses, ConditionClause, FigureClause, OrderClause, RankClause
from kbd_offline.facts import KnownColumn
from kbd_offline.grouping import (
    GroupKey,
    default_number,
    derive_keys,
    figure_of,
    figure_text,
    group_steps,
    keys_of,
    order_keys,
    resolve_figures,
)
from kbd_offline.names import slug
from kbd_offline.scan import Scan, SeveralError, UnclearError, quoted
from kbd_offline.times import moment_of

__all__ = ["Composed", "SplitPart", "compose"]


class SplitPart(msgspec.Struct, frozen=True):
    """A split: its column, into what, and the steps of its sheet of totals."""

    by: str
    into: Literal["sheets", "files"]
    keeps_column: bool
    summary: tuple[TableStep, ...] = ()
    form: SheetForm = SheetForm()


class Composed(msgspec.Struct, frozen=True):
    """A job on one table but for its files.

    Args:
        steps: What makes the result.
        words: It in words.
        slug: What the result is, as a part of a file's name.
        is_figures: Whether it is figures, which go into a workbook unless something else is said.
        is_answer: Whether it may be told in words: one figure, or an answer to a question.
        form: What its sheet has beside the rows.
        split: How it is split, if it is.
        notes: What must be said beside it.
    """

    steps: tuple[TableStep, ...]
    words: str
    slug: str
    is_figures: bool = False
    is_answer: bool = False
    form: SheetForm = SheetForm()
    split: SplitPart | None = None
    notes: tuple[str, ...] = ()


def compose(scan: Scan, clauses: Clauses) -> Composed:
    """Return the steps that clauses ask for.

    Raises:
        SeveralError: They have several readings.
        UnclearError: They have none.
    """
    composed = _Composer(scan, clauses).composed()
    _check_used(scan, clauses, composed)
    return composed


def _check_used(scan: Scan, clauses: Clauses, composed: Composed) -> None:
    """Check that each column that was named is used by a step.

    Raises:
        UnclearError: One is not: what is wanted of it was not understood.
    """
    parts = composed.split
    steps = msgspec.json.encode((composed.steps, parts.summary if parts else ())).decode()
    steps += parts.by if parts else ""
    for column, place, weak in clauses.loose:
        name = msgspec.json.encode(column.name).decode()[1:-1]
        if not weak and name not in steps and not scan.is_noun(place):
            raise UnclearError(f'I do not see what "{column.name}" is for')


class _Composer:
    def __init__(self, scan: Scan, clauses: Clauses) -> None:
        self._scan = scan
        self._clauses = clauses
        self._steps: list[TableStep] = []
        self._words: list[str] = []
        self._slugs: list[str] = []
        self._form = SheetForm()
        self._notes = list(clauses.notes)

    def composed(self) -> Composed:
        clauses = self._clauses
        self._derive()
        late = self._share_condition()
        self._filter([one for one in clauses.conditions if one is not late])
        self._deduplicate()
        if clauses.split or (clauses.split_keys and not clauses.figures):
            return self._split()
        if clauses.duplicates is not None:
            return self._duplicates(clauses.duplicates.columns)
        if clauses.unique_list:
            return self._unique(clauses.unique_list)
        self._take_loose_keys()
        clauses.rank = clauses.rank or self._who()
        if clauses.rank is not None and (found := self._ranked(clauses.rank)) is not None:
            return found
        figures = self._figures()
        if clauses.running is not None:
            return self._running(figures)
        if figures:
            return self._grouped(figures, late)
        if clauses.keys or clauses.across:
            raise self._no_figure()
        return self._rows()

    def _made(self, *, is_figures: bool, is_answer: bool = False) -> Composed:
        return Composed(
            tuple(self._steps), " ".join(self._words), "-".join(filter(None, self._slugs)),
            is_figures, is_answer, self._form, None, tuple(dict.fromkeys(self._notes)),
        )  # fmt: skip

    def _derive(self) -> None:
        made: dict[str, str] = {}
        for one in self._clauses.derived:
            if one.name in made:
                self._steps.append(DeriveStep(dict(made)))
                made.clear()
            made[one.name] = one.expression
        if made:
            self._steps.append(DeriveStep(made))

    def _share_condition(self) -> ConditionClause | None:
        """Return the condition that a share is of: that of the cancelled among all."""
        clauses = self._clauses
        if clauses.share is None or clauses.keys or clauses.split:
            return None
        valued = [one for one in clauses.conditions if one.values and not one.is_negative]
        if len(valued) != 1:
            raise UnclearError("it does not say what shares are of: by which column?")
        return valued[0]

    def _filter(self, conditions: Sequence[ConditionClause]) -> None:
        if not conditions:
            return
        joints = {one.joint for one in conditions[1:]}
        if len(joints) > 1:
            raise UnclearError(
                "it has conditions with and, and others with or: ask for one after the other"
            )
        texts = [one.expression for one in conditions]
        is_any = joints == {"or"}
        where = expressions.alternatives(texts) if is_any else expressions.both(texts)
        self._steps.append(FilterStep(where, make="chosen"))
        joined = (" or " if is_any else " and ").join(one.text for one in conditions)
        self._where = f"where {joined}"
        self._slugs_of_filter = [one.slug for one in conditions]

    _where = ""
    _slugs_of_filter: Sequence[str] = ()

    def _end_words(self) -> None:
        if self._where:
            self._words.append(self._where)
        self._slugs += list(self._slugs_of_filter)

    def _deduplicate(self) -> None:
        dedupe = self._clauses.dedupe
        if dedupe is None:
            return
        keep: Literal["first", "last"] = "first" if dedupe.keep == "first" else "last"
        if dedupe.keep == "latest":
            column = moment_of(self._scan, self._clauses)
            self._steps.append(SortStep((SortKey(column.name),)))
        names = tuple(column.name for column in dedupe.columns)
        self._note_spellings(dedupe.columns or self._scan.table.columns)
        self._steps.append(DeduplicateStep(names, keep, exact=self._clauses.exact))

    def _take_loose_keys(self) -> None:
        """Take columns of texts that stand alone beside figures for what is grouped by."""
        clauses = self._clauses
        texts = [
            c
            for c, _, weak in clauses.loose
            if not weak and (not c.is_number or c.role == "id") and not c.is_moment
        ]
        if clauses.having and not clauses.keys and texts:
            clauses.keys = keys_from(texts[:1])
            return
        if clauses.is_pivot and not clauses.keys and texts:
            clauses.keys = keys_from(texts)

    def _figures(self) -> list[FigureClause]:
        clauses = self._clauses
        wants = clauses.figures or clauses.keys or clauses.across or clauses.share or clauses.having
        if not wants and not self._is_a_sum():
            return []
        figures = resolve_figures(self._scan, clauses) if clauses.figures or any(
            column.is_number and column.role != "id" for column, _, _ in clauses.loose
        ) else []  # fmt: skip
        if clauses.share is not None and not figures:
            figures = [FigureClause("count", None, True, clauses.share.place)]
            figures = self._shared(clauses.share.place)
        if not figures and (clauses.keys or clauses.across) and not clauses.having:
            figures = self._implied()
        for figure, _, _, _ in clauses.having:
            one = _resolved(self._scan, figure)
            if not any((f.function, f.column) == (one.function, one.column) for f in figures):
                figures.append(one)
        if figures and clauses.selected:
            names = " and ".join(f'"{column.name}"' for column in clauses.selected)
            raise UnclearError(
                f"it chooses the columns {names} and asks for figures or groups, too"
            )
        texts = [
            c for c, _, weak in clauses.loose if not weak and not c.is_number and not c.is_moment
        ]
        beside = [c for c in texts if all(key.column != c for key in clauses.keys)]
        if figures and beside and not clauses.keys and not clauses.across:
            raise SeveralError(
                f'I do not see what "{beside[0].name}" is for',
                [f"{self._scan.request.rstrip(' .?!')} by {quoted(beside[0].name)}"],
            )
        return figures

    def _shared(self, place: int) -> list[FigureClause]:
        """Return what shares are of where it is not said: the only amount of money, else rows.

        Raises:
            SeveralError: There are several amounts.
        """
        rows = FigureClause("count", None, True, place)
        if self._clauses.nouns or not self._clauses.keys:
            return [rows]
        money = [one for one in self._scan.vocabulary.meaning("money", "revenue", "cost")
                 if one.adds_up]  # fmt: skip
        if len(money) > 1 or (not money and any(
            column.type == "float" and column.adds_up for column in self._scan.table.columns
        )):  # fmt: skip
            raise self._share_of_what()
        return [FigureClause("sum", money[0], False, place)] if money else [rows]

    def _implied(self) -> list[FigureClause]:
        """Return the figures of groups where none is asked for: of the only thing there may be.

        "Loans per branch" counts the rows, and adds the only amount up; a table of two columns has
        the only amount in its cells.
        """
        clauses, scan = self._clauses, self._scan
        made = [one for one in scan.table.columns
                if any(one.name == derived.name for derived in clauses.derived)]  # fmt: skip
        if len(made) == 1:
            return [FigureClause("sum", made[0], False, 0)]
        sums = [column for column in scan.table.columns if column.adds_up]
        if clauses.is_pivot or (clauses.across and clauses.keys):
            return [FigureClause("sum", sums[0], False, 0)] if len(sums) == 1 else []
        moments = [c for c, _, weak in clauses.loose if c.is_moment and not weak]
        if len(moments) == 1 and any(key.part for key in clauses.keys):
            clauses.moment = clauses.moment or moments[0]
            return [FigureClause("count", None, True, 0)]
        if not clauses.nouns or any(not weak for _, _, weak in clauses.loose):
            return []
        rows = [FigureClause("count", None, True, 0)]
        if len(sums) == 1 and sums[0].type == "float" or len(
            money := [one for one in scan.vocabulary.meaning("money", "revenue", "cost")
                      if one.adds_up]
        ) == 1 and len(sums) == 1 and money:  # fmt: skip
            rows.append(FigureClause("sum", sums[0], False, 0))
        return rows

    def _is_a_sum(self) -> bool:
        """Tell whether an amount alone, as in "revenue in March", asks for its sum."""
        clauses = self._clauses
        others = clauses.selected or clauses.dropped or clauses.order or clauses.renamed
        if clauses.conditions and self._scan.at(0, "only"):
            # "Only expenses, that is negative amounts" are rows.
            clauses.loose = [(c, at, weak or c.adds_up) for c, at, weak in clauses.loose]
            return False
        loose = [column for column, _, weak in clauses.loose if not weak]
        return not others and not clauses.derived and len(loose) == 1 and loose[0].adds_up

    def _no_figure(self) -> SeveralError:
        request = self._scan.request.rstrip(" .?!")
        sums = [column for column in self._scan.table.columns if column.adds_up][:3]
        options = [f"{request}, total {quoted(column.name)}" for column in sums]
        return SeveralError(
            "it groups by a column, but does not say what to work out",
            [*options, f"{request}, count rows"],
        )

    def _share_of_what(self) -> SeveralError:
        scan, share = self._scan, self._clauses.share
        at = share.place if share else 0
        sums = [column for column in scan.table.columns if column.adds_up][:3]
        return SeveralError(
            "it does not say what the shares are of",
            [scan.rewritten(at, scan.at(at, "share"), f"share of {name}")
             for name in (*(quoted(c.name) for c in sums), "rows")],
        )  # fmt: skip

    def _grouped(self, figures: list[FigureClause], late: ConditionClause | None) -> Composed:
        scan, clauses = self._scan, self._clauses
        keys = keys_of(scan, clauses, clauses.keys)
        across = keys_of(scan, clauses, clauses.across)
        if late is not None:
            keys = [GroupKey(late.columns[0].name, late.columns[0])]
        if clauses.is_pivot and not across and len(keys) > 1:
            keys, across = keys[:-1], keys[-1:]
        self._figure_words(figures, [*keys, *across])
        if across and keys:
            return self._pivoted(figures, keys, across)
        keys = keys or across
        self._note_spellings(key.column for key in keys if not key.derived)
        self._steps += group_steps(scan, clauses, keys, figures)
        self._add_having(keys, figures)
        if clauses.share is not None:
            self._add_share(figures, keys)
        if late is not None:
            self._steps.append(FilterStep(late.expression))
            self._words.append(f"of {late.text}")
            self._slugs.append(late.slug)
        self._add_order(keys, figures)
        self._add_totals(keys, figures)
        self._end_words()
        one = not keys or late is not None
        return self._made(is_figures=True, is_answer=one or clauses.is_question)

    def _note_spellings(self, columns: Iterable[KnownColumn]) -> None:
        """Note which values count as one although they differ in capitals."""
        if self._clauses.exact:
            return
        for column in columns:
            spellings: dict[str, list[str]] = {}
            for value in column.values if column.is_text else ():
                spellings.setdefault(value.casefold(), []).append(value)
            several = [sorted(one) for one in spellings.values() if len(one) > 1]
            for spelt in several[:_MAX_SPELT]:
                shown = max(spelt, key=lambda one: column.values[one])
                *most, last = (f'"{one}"' for one in spelt)
                self._notes.append(
                    f"{', '.join(most)} and {last} count as one {column.name}"
                    f' ("{shown}"); say "exactly" to tell them apart'
                )

    def _figure_words(self, figures: Sequence[FigureClause], keys: Sequence[GroupKey]) -> None:
        what = ", ".join(figure_text(figure) for figure in figures)
        share = "share of " if self._clauses.share is not None else ""
        by = f" by {', '.join(key.name for key in keys)}" if keys else ""
        self._words.append(f"{share}{what}{by}")
        self._slugs.append(slug(share))
        for figure in figures[:2]:
            plain = figure.function == "sum" and figure.column is not None
            self._slugs.append(
                slug(figure.column.name if plain and figure.column else figure_text(figure))
            )
        if keys:
            self._slugs.append(f"by-{'-'.join(slug(key.name) for key in keys)}")

    def _pivoted(
        self, figures: Sequence[FigureClause], keys: Sequence[GroupKey], across: Sequence[GroupKey]
    ) -> Composed:
        if len(figures) > 1 or len(across) > 1:
            raise UnclearError("a table with columns across shows one figure, by one column across")
        self._steps += derive_keys([*keys, *across])
        figure = figure_of(figures[0], [column.name for column in self._scan.table.columns])
        total = "Total" if self._clauses.has_totals else None
        self._steps.append(
            PivotStep(tuple(key.name for key in keys), across[0].name, figure, total)
        )
        self._words.append("with columns across")
        self._end_words()
        return self._made(is_figures=True, is_answer=self._clauses.is_question)

    def _add_having(self, keys: Sequence[GroupKey], figures: Sequence[FigureClause]) -> None:
        names = [key.name for key in keys]
        if self._clauses.having and not keys:
            raise UnclearError("it has a condition on a figure, and does not say by which column")
        for figure, operator, number, text in self._clauses.having:
            name = figure_of(_resolved(self._scan, figure), names).name
            self._steps.append(FilterStep(expressions.compared(name, operator, number)))
            self._words.append(f"where {name} {text}")
            self._slugs.append(slug(f"{name} {text}"))

    def _add_share(self, figures: Sequence[FigureClause], keys: Sequence[GroupKey]) -> None:
        names = [key.name for key in keys]
        for figure in figures:
            if figure.function not in ("sum", "count"):
                raise UnclearError("shares are of a sum or of a count")
            made = figure_of(figure, names).name
            name = "Share" if len(figures) == 1 else f"Share of {made}"
            self._steps.append(ShareStep(made, name))
            self._form = msgspec.structs.replace(
                self._form, formats={**self._form.formats, name: "0.0%"}
            )

    def _add_order(self, keys: Sequence[GroupKey], figures: Sequence[FigureClause]) -> None:
        clauses = self._clauses
        rank = clauses.rank
        order = order_keys(self._scan, clauses, clauses.order, keys, figures)
        if rank is not None and rank.subject is None and keys:
            names = [key.name for key in keys]
            by = order or (SortKey(figure_of(figures[0], names).name, rank.descending),)
            self._steps.append(TopStep(rank.count, by, ties=rank.ties))
            self._words.append(f"the {'first' if rank.descending else 'last'} {rank.count}")
            self._slugs.append(f"{'top' if rank.descending else 'bottom'}-{rank.count}")
            return
        if order:
            self._steps.append(SortStep(order))
            self._words.append(_order_text(order))

    def _add_totals(self, keys: Sequence[GroupKey], figures: Sequence[FigureClause]) -> None:
        if not keys or self._clauses.having or self._clauses.rank is not None:
            return
        totals: dict[str, Literal["sum", "average", "minimum", "maximum", "count"]] = {}
        names = [key.name for key in keys]
        for figure in figures:
            made = figure_of(figure, names).name
            match figure.function:
                case "sum" | "count":
                    totals[made] = "sum"
                case "minimum" | "maximum" if figure.column and figure.column.is_number:
                    totals[made] = figure.function
                case _:
                    # The average of groups' averages is none of the rows.
                    continue
        is_sum = all(one == "sum" for one in totals.values())
        label = "Total" if is_sum else "All rows"
        self._form = msgspec.structs.replace(self._form, totals=totals, totals_label=label)

    def _who(self) -> RankClause | None:
        """Return the ranking that "who earns the most" asks for: whoever has the figure."""
        clauses, scan = self._clauses, self._scan
        if not clauses.is_who or clauses.keys or len(clauses.figures) != 1:
            return None
        (figure,) = resolve_figures(scan, clauses)
        if figure.function not in ("maximum", "minimum") or figure.column is None:
            return None
        people = [
            column for column in scan.table.columns
            if not column.is_number and scan.vocabulary.is_of(column, "person", "customer")
        ]  # fmt: skip
        clauses.figures.clear()
        subject = people[0] if len(people) == 1 else None
        is_sum = subject is not None and figure.column.adds_up
        ranked = FigureClause("sum", figure.column, place=figure.place) if is_sum else None
        return RankClause(1, figure.function == "maximum", subject, figure.column, ranked)

    def _ranked(self, rank: RankClause) -> Composed | None:
        """Return the first rows or groups of an order; None where figures of groups are ranked."""
        clauses, scan = self._clauses, self._scan
        if rank.subject is None and (clauses.figures or clauses.share) and clauses.keys:
            return None
        subject = rank.subject
        figure = rank.figure
        numbers = [c for c, _, _ in clauses.loose if c.is_number and c.role != "id"]
        by = rank.by or (numbers[0] if len(numbers) == 1 else None)
        if clauses.figures and figure is None:
            figure = resolve_figures(scan, clauses)[0]
        if by is None and figure is None and clauses.order:
            by, figure = clauses.order[0].column, clauses.order[0].figure
            descending = clauses.order[0].descending
            rank = msgspec.structs.replace(
                rank, descending=rank.descending if descending is None else descending
            )
        if subject is not None and (figure is not None or subject.distinct < scan.table.rows):
            return self._ranked_groups(rank, subject, by, figure)
        if by is None:
            by = self._rank_default(rank)
        keys = keys_of(scan, clauses, clauses.keys)
        self._steps += derive_keys(keys)
        order = (SortKey(by.name, rank.descending),)
        per = tuple(key.name for key in keys)
        self._steps.append(TopStep(rank.count, order, per, rank.ties))
        self._rank_words(rank, "rows", by.name, keys)
        self._choose_columns()
        self._end_words()
        return self._made(is_figures=False, is_answer=clauses.is_question)

    def _rank_default(self, rank: RankClause) -> KnownColumn:
        """Return what rows are ranked by where it is not said: the only amount that there is."""
        if rank.is_plain:
            scan, at = self._scan, rank.place
            while not scan.at(at, "top", "bottom"):
                at += 1
            options = [scan.rewritten(at, at + 1, word) for word in ("newest", "oldest", "top", "bottom")]
            raise SeveralError("it does not say in which order the first rows are meant", options)
        found = [column for column in self._scan.table.columns if column.adds_up]
        money = [c for c in self._scan.vocabulary.meaning("money", "revenue", "cost") if c.adds_up]
        found = money if len(money) == 1 else found
        if len(found) == 1:
            return found[0]
        request = self._scan.request.rstrip(" .?!")
        raise SeveralError(
            "it does not say what is ranked by",
            [f"{request} by {quoted(column.name)}" for column in found[:4]],
        )

    def _ranked_groups(
        self,
        rank: RankClause,
        subject: KnownColumn,
        by: KnownColumn | None,
        figure: FigureClause | None,
    ) -> Composed:
        scan, clauses = self._scan, self._clauses
        if figure is None and by is not None:
            if not by.adds_up:
                request = scan.request.rstrip(" .?!")
                raise SeveralError(
                    f'"{by.name}" does not add up, and "{subject.name}" has several rows each',
                    [f"top {rank.count} rows by {quoted(by.name)}",
                     f"top {rank.count} {quoted(subject.name)} by average {quoted(by.name)}"],
                ) if request else UnclearError("")  # fmt: skip
            figure = FigureClause("sum", by, False, rank.place)
        if figure is None:
            sums = [column for column in scan.table.columns if column.adds_up]
            request = scan.request.rstrip(" .?!")
            options = [f"{request} by {quoted(column.name)}" for column in sums[:3]]
            raise SeveralError(
                f'it does not say by what "{subject.name}" is ranked',
                [*options, f"{request} by count of rows"],
            )
        figure = _resolved(scan, figure)
        per = keys_of(scan, clauses, clauses.keys)
        own = GroupKey(subject.name, subject)
        keys = [*(key for key in per if key.name != own.name), own]
        per = [key for key in per if key.name != own.name]
        self._steps += group_steps(scan, clauses, keys, [figure])
        name = figure_of(figure, [key.name for key in keys]).name
        order = (SortKey(name, rank.descending),)
        self._steps.append(TopStep(rank.count, order, tuple(key.name for key in per), rank.ties))
        self._rank_words(rank, subject.name, name, per)
        self._end_words()
        return self._made(is_figures=True, is_answer=clauses.is_question)

    def _rank_words(self, rank: RankClause, what: str, by: str, per: Sequence[GroupKey]) -> None:
        way = "top" if rank.descending else "bottom"
        of = f" of each {', '.join(key.name for key in per)}" if per else ""
        self._words.append(f"{way} {rank.count} {what} by {by}{of}")
        thing = "" if what == "rows" else f"-{slug(what)}"
        self._slugs.append(f"{way}-{rank.count}{thing}-by-{slug(by)}")
        if per:
            self._slugs.append(f"per-{'-'.join(slug(key.name) for key in per)}")

    def _running(self, figures: Sequence[FigureClause]) -> Composed:
        scan, clauses = self._scan, self._clauses
        running = clauses.running
        column = running.column if running else None
        numbers = [c for c, _, _ in clauses.loose if c.is_number and c.role != "id"]
        column = (
            column
            or (numbers[0] if numbers else None)
            or next((figure.column for figure in figures if figure.column is not None), None)
        )
        if column is None:
            column = default_number(scan, "sum", running.place if running else 0)
        if not column.adds_up:
            raise UnclearError(f'"{column.name}" ({column.role}) does not add up')
        keys = keys_of(scan, clauses, clauses.keys)
        times = [key for key in keys if key.column.is_moment]
        others = [key for key in keys if not key.column.is_moment]
        name = f"Running {column.name}"
        within = tuple(key.name for key in others)
        if times and any(key.part or True for key in times):
            figure = FigureClause("sum", column, False, 0)
            self._steps += group_steps(scan, clauses, [*others, *times], [figure])
            made = figure_of(figure, [key.name for key in keys]).name
            order = tuple(SortKey(key.name) for key in times)
            self._steps.append(SortStep((*(SortKey(one) for one in within), *order)))
        else:
            made = column.name
            ordered = order_keys_of_rows(scan, clauses)
            order = ordered or (SortKey(moment_of(scan, clauses).name),)
            self._steps.append(SortStep(order))
        self._steps.append(RunningStep(made, name, order, within))
        by = f" by {', '.join(key.name for key in keys)}" if keys else ""
        self._words.append(f"running total of {column.name}{by}, in the order of {order[0].column}")
        self._slugs.append(
            f"running-{slug(column.name)}{'-by-' * bool(keys)}{'-'.join(slug(k.name) for k in keys)}"
        )
        self._end_words()
        return self._made(is_figures=bool(times), is_answer=clauses.is_question)

    def _duplicates(self, columns: Sequence[KnownColumn]) -> Composed:
        chosen = columns or self._scan.table.columns
        keys = [GroupKey(column.name, column) for column in chosen]
        figure = FigureClause("count", None, True, 0)
        self._steps += group_steps(self._scan, self._clauses, keys, [figure])
        name = figure_of(figure, [key.name for key in keys]).name
        self._steps.append(FilterStep(f"{expressions.column(name)} > 1"))
        of = ", ".join(column.name for column in columns) or "all columns"
        self._words.append(f"what is there more than once in {of}")
        self._slugs.append("duplicates")
        self._end_words()
        return self._made(is_figures=True, is_answer=self._clauses.is_question)

    def _unique(self, columns: Sequence[KnownColumn]) -> Composed:
        names = tuple(column.name for column in columns)
        self._steps += [
            SelectStep(names), DeduplicateStep(names, exact=self._clauses.exact),
            SortStep(tuple(SortKey(name) for name in names)),
        ]  # fmt: skip
        self._words.append(f"the different values of {', '.join(names)}")
        self._slugs.append(f"different-{slug(' '.join(names))}")
        self._end_words()
        return self._made(is_figures=False, is_answer=self._clauses.is_question)

    def _split(self) -> Composed:
        from_clauses = self._clauses
        clauses = from_clauses.split_keys or from_clauses.keys
        keys = keys_of(self._scan, from_clauses, clauses)
        if not keys:
            raise UnclearError("it does not say by which column to split")
        names = {key.name for key in (*keys, *keys_of(self._scan, from_clauses, from_clauses.keys))}
        if len(names) > 1:
            raise UnclearError("a sheet is made for each value of one column, and it names several")
        (key,) = keys[:1]
        self._note_spellings([] if key.derived else [key.column])
        self._steps += derive_keys(keys[:1])
        order = order_keys_of_rows(self._scan, from_clauses)
        if order:
            self._steps.append(SortStep(order))
        chosen = [c for c in from_clauses.selected] or [
            c
            for c, _, weak in from_clauses.loose
            if not weak and not (from_clauses.figures and c.is_number)
        ]
        shown = tuple(dict.fromkeys(column.name for column in chosen))
        summary = self._summary(key, chosen)
        keeps = not key.derived and (not shown or key.name in shown)
        if shown:
            needed = (
                tuple(one.column.name for one in summary_figures(summary) if one.column)
                if False
                else ()
            )
            self._steps.append(
                SelectStep((*shown, *needed, *(() if key.name in shown else (key.name,))))
            )
        into: Literal["sheets", "files"] = "files" if from_clauses.split == "files" else "sheets"
        self._words.append(f"one {'file' if into == 'files' else 'sheet'} for each {key.name}")
        if shown:
            self._words.append(f"with {', '.join(shown)}")
        if order:
            self._words.append(_order_text(order))
        if summary:
            self._words.append("and a sheet of totals")
        self._slugs.append(f"by-{slug(key.name)}")
        self._end_words()
        made = self._made(is_figures=True)
        part = SplitPart(key.name, into, keeps, tuple(summary), self._form)
        return msgspec.structs.replace(made, split=part)

    def _summary(self, key: GroupKey, chosen: Sequence[KnownColumn]) -> list[TableStep]:
        """Return the steps of the sheet of totals: rows and sums by the key."""
        clauses, scan = self._clauses, self._scan
        if not (clauses.has_summary or clauses.has_totals or clauses.figures):
            return []
        shown = chosen or scan.table.columns
        named = [one for one in clauses.figures if one.column is not None or one.of_rows]
        figures = [_resolved(scan, one) for one in named]
        plain = [one for one in clauses.figures if one.column is None and not one.of_rows]
        if not figures or any(one.function == "sum" for one in plain):
            figures += [FigureClause("sum", column, False, 0) for column in shown if column.adds_up]
            self._notes += not_summed(shown)
        for one in plain:
            if one.function != "sum":
                figures.append(
                    msgspec.structs.replace(
                        one, column=default_number(scan, one.function, one.place)
                    )
                )
        count = FigureClause("count", None, True, 0)
        figures = [
            count,
            *(one for one in figures if not (one.of_rows and one.function == "count")),
        ]
        self._add_totals([key], figures)
        own = GroupKey(key.name, key.column)
        return group_steps(scan, clauses, [own], figures)

    def _rows(self) -> Composed:
        clauses, scan = self._clauses, self._scan
        self._loose_columns()
        order = order_keys_of_rows(scan, clauses)
        if order:
            self._steps.append(SortStep(order))
        if not (self._steps or clauses.selected or clauses.dropped or clauses.renamed):
            return Composed((), "the whole table", "")
        dedupe = clauses.dedupe
        if dedupe is not None:
            of = (
                f" by {', '.join(column.name for column in dedupe.columns)}"
                if dedupe.columns
                else ""
            )
            self._words.append(f"the {dedupe.keep} of the rows that are alike{of}")
            self._slugs.append("without-duplicates")
        else:
            self._words.append("rows")
        for one in clauses.derived:
            self._words.append(f"with {one.text}")
            self._slugs.append(slug(one.name) if len(clauses.derived) == 1 else "")
        if len(clauses.derived) > 1:
            self._slugs.append("changed")
        if self._where:
            self._words.append(self._where)
        self._slugs += list(self._slugs_of_filter)
        if order:
            self._words.append(_order_text(order))
            self._slugs += [] if self._slugs_of_filter or dedupe else ["sorted"]
        self._choose_columns()
        answers = clauses.is_question
        return self._made(is_figures=False, is_answer=answers)

    def _loose_columns(self) -> None:
        """Take columns that stand alone as those that are chosen."""
        clauses = self._clauses
        loose = [column for column, _, weak in clauses.loose if not weak]
        if not loose or clauses.selected:
            clauses.selected += [c for c in loose if c not in clauses.selected]
            return
        ordered = {one.column.name for one in clauses.order if one.column is not None}
        loose = [column for column in loose if column.name not in ordered]
        is_unique = bool(loose) and loose[0].distinct == self._scan.table.rows
        if is_unique and len(loose) == 1 and clauses.conditions and not clauses.nouns and (
            not loose[0].is_number
        ):  # fmt: skip
            # "Articles under 5" are rows: each is one.
            clauses.loose = []
            return
        if len(loose) == 1 and not loose[0].is_number and clauses.is_question and not is_unique:
            names = (loose[0].name,)
            self._steps += [SelectStep(names), DeduplicateStep(names, exact=clauses.exact)]
            self._words.append(f"the different values of {loose[0].name}")
            return
        if (
            len(loose) == 1
            and not is_unique
            and not clauses.is_question
            and not loose[0].is_number
            and clauses.conditions
        ):
            name = quoted(loose[0].name)
            where = self._scan.request.rstrip(" .?!")
            place = next(place for column, place, _ in clauses.loose if column == loose[0])
            raise SeveralError(
                f'it may ask for the rows, or for the different values of "{loose[0].name}"',
                [self._scan.rewritten(place, place + 1, "rows") if where else "",
                 self._scan.rewritten(place, place + 1, f"unique list of {name}")],
            )  # fmt: skip
        clauses.selected += loose

    def _choose_columns(self) -> None:
        clauses = self._clauses
        if clauses.selected or clauses.dropped:
            chosen = tuple(dict.fromkeys(column.name for column in clauses.selected))
            without = tuple(dict.fromkeys(column.name for column in clauses.dropped))
            if chosen:
                made = [one.name for one in clauses.derived if one.name not in chosen]
                chosen = (*chosen, *made)
            self._steps.append(SelectStep(chosen, () if chosen else without))
            names = ", ".join(chosen or without)
            self._words.append(f"with only {names}" if chosen else f"without the column {names}")
            self._slugs.append(
                ""
                if self._slugs
                else slug(" ".join((*chosen, *("without " + n for n in without)))[:40])
            )
        if clauses.renamed:
            self._steps.append(SelectStep(rename=clauses.renamed))
            told = ", ".join(f"{old} called {new}" for old, new in clauses.renamed.items())
            self._words.append(f"with {told}")
            self._slugs.append("renamed")


def summary_figures(steps: Sequence[TableStep]) -> Sequence[FigureClause]:
    """Return no figures; kept for the shape of a summary."""
    del steps
    return ()


def keys_from(columns: Sequence[KnownColumn]) -> list:  # type: ignore[type-arg]
    """Return keys of columns."""
    from kbd_offline.clauses import KeyClause  # noqa: PLC0415

    return [KeyClause(column, "", 0) for column in columns]


def _resolved(scan: Scan, figure: FigureClause) -> FigureClause:
    """Return a figure with its column."""
    if figure.of_rows or figure.column is not None:
        return figure
    if figure.function == "count" and figure.subject is not None:
        if figure.subject.distinct == scan.table.rows:
            return msgspec.structs.replace(figure, of_rows=True)
        raise SeveralError(
            f'it may be of rows, or of different values of "{figure.subject.name}"', []
        )
    if figure.function == "count":
        return msgspec.structs.replace(figure, of_rows=True)
    return msgspec.structs.replace(
        figure, column=default_number(scan, figure.function, figure.place)
    )


def order_keys_of_rows(scan: Scan, clauses: Clauses) -> tuple[SortKey, ...]:
    """Return the order of rows.

    Raises:
        UnclearError: It sorts by a figure, or does not say by what.
    """
    found = []
    for one in clauses.order:
        column = one.column or _row_order(scan, clauses, one)
        found.append(SortKey(column.name, bool(one.descending)))
    return tuple(found)


def _row_order(scan: Scan, clauses: Clauses, order: OrderClause) -> KnownColumn:
    if order.part:
        return moment_of(scan, clauses)
    if order.figure is not None and order.figure.column is not None:
        return order.figure.column
    if order.figure is not None:
        raise UnclearError("it sorts by a figure, and asks for none")
    columns = [column for column in scan.table.columns if column.adds_up]
    if len(columns) != 1:
        raise UnclearError("it does not say what to sort by")
    return columns[0]


def _order_text(order: Sequence[SortKey]) -> str:
    ways = (f"{one.column}{' descending' if one.descending else ''}" for one in order)
    return f"sorted by {', '.join(ways)}"


_MAX_TEXTS = 5
_MAX_SPELT = 3
"""Values of which it is told that their spellings count as one."""


def not_summed(columns: Sequence[KnownColumn]) -> list[str]:
    """Return the notes on numbers that totals were not made of: no figures, or not all of them."""
    notes = []
    if left := [column for column in columns if column.is_number and column.role]:
        named = ", ".join(f"{column.name} ({column.role})" for column in left)
        same = f'say "total {left[0].name}" to have its sum all the same'
        notes.append(f"Not summed: {named}; {same}")
    texts = [c for c in columns if not c.is_number and "number" in c.why_text]
    notes += [f"Not summed: {column.name}: {column.why_text}" for column in texts[:_MAX_TEXTS]]
    if (more := len(texts) - _MAX_TEXTS) > 0:
        notes.append(f"Not summed, as they hold texts among numbers: {more} more columns")
    return notes
