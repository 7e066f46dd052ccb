"""Composition of figures: groups, shares, columns across, running totals. Pure."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from kbd.jobs.records import FilterStep, PivotStep, RunningStep, ShareStep, SortKey, TopStep
from kbd_offline import expressions
from kbd_offline.clauses import ConditionClause, FigureClause, KeyClause, count_of_rows, sum_of
from kbd_offline.composed_job import ComposedJob, RowComposer, order_text, way_of
from kbd_offline.facts import KnownColumn
from kbd_offline.group_composer import (
    GroupKey,
    Groups,
    counted,
    default_number,
    figure_text,
    keys_of,
    money_of,
    resolve_figures,
    resolved,
)
from kbd_offline.names import slug
from kbd_offline.rank_checks import check_average
from kbd_offline.scan import SeveralError, UnclearError, extended, is_cue, numbered, quoted
from kbd_offline.time_rules import moment_of

__all__ = ["FigureComposer"]


class FigureComposer(RowComposer):
    """Steps of figures."""

    def _share_condition(self) -> ConditionClause | None:
        """Return the condition that a share is of: that of the cancelled among all."""
        clauses, scan = self._clauses, self._scan
        if clauses.share is None or clauses.split:
            return None
        if clauses.keys:
            behind = scan.skip(scan.at(clauses.share, "share"), "det")
            places = clauses.condition_places
            said = [at for at in places if at - 1 not in places and is_cue(scan, at - 1, "being")]
            if said or behind in places:
                raise UnclearError(
                    "it may ask which part of each group is so, or how those that are so divide"
                    " among the groups"
                )
            return None
        valued = [one for one in clauses.conditions if one.values and not one.is_negative]
        if len(valued) != 1:
            raise UnclearError("it does not say what shares are of: by which column?")
        return valued[0]

    def _take_loose_keys(self) -> None:
        """Take columns of texts that stand alone beside figures for what is grouped by."""
        clauses = self._clauses
        texts = [
            one for one in clauses.alone
            if (not one.is_number or one.role == "id") and not one.is_moment
        ]  # fmt: skip
        if (clauses.having or clauses.is_pivot) and not clauses.keys:
            clauses.keys = [KeyClause(one) for one in texts[: 1 if clauses.having else None]]

    def _figures(self) -> list[FigureClause]:
        clauses = self._clauses
        wants = clauses.figures or clauses.keys or clauses.across or clauses.having
        if not wants and clauses.share is None and not self._is_a_sum():
            return []
        figures = resolve_figures(self._scan, clauses)
        if clauses.share is not None and not figures:
            figures = self._shared(clauses.share)
        if not figures and (clauses.keys or clauses.across) and not clauses.having:
            figures = self._implied()
        for having in clauses.having:
            one = resolved(self._scan, having.figure)
            if not any((f.function, f.column) == (one.function, one.column) for f in figures):
                figures.append(one)
        if figures:
            self._check_beside()
        return figures

    def _check_beside(self) -> None:
        """Check that nothing is chosen or left alone beside figures.

        Raises:
            UnclearError: It is.
        """
        clauses = self._clauses
        if clauses.selected:
            names = " and ".join(f'"{column.name}"' for column in clauses.selected)
            raise UnclearError(
                f"it chooses the columns {names} and asks for figures or groups, too"
            )
        if clauses.dropped:
            left = " and ".join(f'"{column.name}"' for column in clauses.dropped)
            raise UnclearError(f"it leaves out {left} and asks for figures, too")
        keys = [key.column for key in clauses.keys]
        texts = [one for one in clauses.alone if not one.is_number and not one.is_moment]
        for one in texts:
            if one in keys:
                continue
            why = f'I do not see what "{one.name}" is for'
            if not clauses.keys and not clauses.across:
                raise SeveralError(why, [extended(self._scan, f" by {quoted(one.name)}")])
            if not clauses.is_pivot and clauses.rank is None:
                raise UnclearError(why)

    def _shared(self, place: int) -> list[FigureClause]:
        """Return what shares are of where it is not said: the only amount of money, else rows.

        Raises:
            SeveralError: There are several amounts.
        """
        scan = self._scan
        money, sums = money_of(scan), scan.table.sums
        if self._clauses.nouns or not (money or any(one.type == "float" for one in sums)):
            return [self._count_of_nouns(place)]
        if len(money) == 1:
            return [sum_of(money[0], place)]
        raise SeveralError(
            "it does not say what the shares are of",
            [scan.rewritten(place, scan.at(place, "share"), f"share of {name}")
             for name in (*(quoted(column.name) for column in sums[:3]), "rows")],
        )  # fmt: skip

    def _implied(self) -> list[FigureClause]:
        """Return the figures of groups where none is asked for: of the only thing there may be.

        "Loans per branch" counts the rows, and adds the only amount up; a table of two columns has
        the only amount in its cells.
        """
        clauses, scan = self._clauses, self._scan
        derived, sums = {one.name for one in clauses.derived}, scan.table.sums
        made = [one for one in scan.table.columns if one.name in derived]
        if len(made) == 1:
            return [sum_of(made[0])]
        if clauses.is_pivot or (clauses.across and clauses.keys):
            return [sum_of(sums[0])] if len(sums) == 1 else []
        moments = [one for one in clauses.alone if one.is_moment]
        if len(moments) == 1 and any(key.part for key in clauses.keys):
            scan.moment = scan.moment or moments[0]
            return [count_of_rows()]
        if not clauses.nouns or clauses.alone:
            return []
        is_sum = len(sums) == 1 and (sums[0].type == "float" or len(money_of(scan)) == 1)
        return [self._count_of_nouns(), *(sum_of(one) for one in sums if is_sum)]

    def _count_of_nouns(self, place: int = 0) -> FigureClause:
        """Return the count of what a request speaks of beside its other words."""
        scan = self._scan
        for noun in self._clauses.nouns[:1]:
            return counted(scan, count_of_rows(noun, numbered(scan, noun)))
        return count_of_rows(place)

    def _is_a_sum(self) -> bool:
        """Tell whether an amount alone, as in "revenue in March", asks for its sum."""
        clauses = self._clauses
        if clauses.conditions and self._scan.at(0, "only"):
            # "Only expenses, that is negative amounts" are rows.
            clauses.loose = [
                msgspec.structs.replace(one, is_weak=one.is_weak or one.column.adds_up)
                for one in clauses.loose
            ]
            return False
        others = clauses.selected or clauses.dropped or clauses.order or clauses.renamed
        loose = clauses.alone
        return not others and not clauses.derived and len(loose) == 1 and loose[0].adds_up

    def _no_figure(self) -> SeveralError:
        scan = self._scan
        options = [f"total {quoted(column.name)}" for column in scan.table.sums[:3]]
        return SeveralError(
            "it groups by a column, but does not say what to work out",
            [extended(scan, f", {one}") for one in (*options, "count rows")],
        )

    def _figure_words(self, groups: Groups) -> None:
        what = ", ".join(map(figure_text, groups.figures))
        share = "share of " if self._clauses.share is not None else ""
        names = [
            one.column.name if one.function == "sum" and one.column else figure_text(one)
            for one in groups.figures[:2]
        ]
        by = f"by-{groups.slug}" if groups.keys else ""
        name = "-".join(filter(None, (slug(share), *map(slug, names), by)))
        self._add(words=f"{share}{what}{groups.text}", name=name)

    def _grouped(self, figures: list[FigureClause], late: ConditionClause | None) -> ComposedJob:
        scan, clauses = self._scan, self._clauses
        across = keys_of(scan, clauses.across)
        names = {one.name for one in across}
        keys = [key for key in keys_of(scan, clauses.keys) if key.name not in names]
        if late is not None:
            keys = [GroupKey(late.columns[0].name, late.columns[0])]
        if clauses.is_pivot and not across and len(keys) > 1:
            keys, across = keys[:-1], keys[-1:]
        plain = [key.column for key in (*keys, *across) if not key.derived]
        check_average(scan, figures, plain)
        self._figure_words(Groups([*keys, *across], figures))
        if across and keys:
            return self._pivoted(figures, keys, across)
        groups = Groups(keys or across, figures)
        self._note_spellings(plain)
        self._add(*groups.steps(exact=scan.is_exact))
        self._add_having(groups)
        if clauses.share is not None:
            self._add_share(groups)
        if late is not None:
            self._add(FilterStep(late.expression), words=f"of {late.text}", name=late.slug)
        self._add_order(groups)
        self._add_totals(groups)
        self._end_words()
        is_one = not groups.keys or late is not None
        return self._made(is_figures=True, is_answer=is_one or clauses.is_question)

    def _pivoted(
        self, figures: Sequence[FigureClause], keys: Sequence[GroupKey], across: Sequence[GroupKey]
    ) -> ComposedJob:
        if len(figures) > 1 or len(across) > 1:
            raise UnclearError("a table with columns across shows one figure, by one column across")
        taken = [GroupKey(column.name, column) for column in self._scan.table.columns]
        figure = Groups(taken).made(figures[0])
        total = "Total" if self._clauses.has_totals else None
        rows = Groups(keys).names
        self._add(
            *Groups([*keys, *across]).derived, PivotStep(rows, across[0].name, figure, total),
            words="with columns across",
        )  # fmt: skip
        self._end_words()
        return self._made(is_figures=True)

    def _add_having(self, groups: Groups) -> None:
        if self._clauses.having and not groups.keys:
            raise UnclearError("it has a condition on a figure, and does not say by which column")
        for having in self._clauses.having:
            figure = resolved(self._scan, having.figure)
            name = groups.made(figure).name
            bound = f"{having.operator} {having.number.of(self._scan, figure.column)}"
            where = FilterStep(f"{expressions.column(name)} {bound}")
            self._add(where, words=f"where {name} {bound}", name=slug(f"{name} {bound}"))

    def _add_share(self, groups: Groups) -> None:
        if any(figure.function not in ("sum", "count") for figure in groups.figures):
            raise UnclearError("shares are of a sum or of a count")
        made = groups.headings
        names = ["Share"] if len(made) == 1 else [f"Share of {one}" for one in made]
        self._add(*(ShareStep(one, name) for one, name in zip(made, names, strict=True)))
        formats = {**self._form.formats, **dict.fromkeys(names, "0.0%")}
        self._form = msgspec.structs.replace(self._form, formats=formats)

    def _add_order(self, groups: Groups) -> None:
        rank, order = self._clauses.rank, groups.order(self._clauses.order)
        if rank is None or rank.subject is not None or not groups.keys:
            self._sort(order, order_text(order))
            return
        way, made = way_of(rank), groups.headings[0]
        words = f"{order_text(order)}, the first {rank.count}" if order else ""
        self._add(
            TopStep(rank.count, order or (SortKey(made, rank.descending),)),
            words=words or f"the {way} {rank.count} by {made}", name=f"{way}-{rank.count}",
        )  # fmt: skip

    def _add_totals(self, groups: Groups) -> None:
        if not groups.keys or self._clauses.having or self._clauses.rank is not None:
            return
        totals: dict[str, Literal["sum", "average", "minimum", "maximum", "count"]] = {}
        for figure, made in zip(groups.figures, groups.headings, strict=True):
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

    def _running(self, figures: Sequence[FigureClause], place: int) -> ComposedJob:
        scan, clauses = self._scan, self._clauses
        named = [*clauses.runs, *(one.column for one in clauses.amounts)]
        named += [figure.column for figure in figures if figure.column is not None]
        column = named[0] if named else default_number(scan, "sum", place)
        if not column.adds_up:
            raise UnclearError(f'"{column.name}" ({column.role}) does not add up')
        keys = keys_of(scan, clauses.keys)
        times = [key for key in keys if key.column.is_moment]
        others = [key for key in keys if not key.column.is_moment]
        made, within = column.name, Groups(others).names
        if times:
            groups = Groups([*others, *times], [sum_of(column)])
            (made,) = groups.headings
            order: tuple[SortKey, ...] = tuple(SortKey(key.name) for key in times)
            self._add(*groups.steps(exact=scan.is_exact))
            self._sort((*map(SortKey, within), *order))
        else:
            order = self._row_order(clauses.order) or (SortKey(moment_of(scan).name),)
            self._sort(order)
        by = Groups(keys)
        name = f"running-{slug(column.name)}{'-by-' * bool(keys)}{by.slug}"
        words = f"running total of {column.name}{by.text}, in the order of {order[0].column}"
        step = RunningStep(made, f"Running {column.name}", order, within)
        self._add(step, words=words, name=name)
        self._end_words()
        return self._made(is_figures=bool(times))

    def _duplicates(self, columns: Sequence[KnownColumn]) -> ComposedJob:
        chosen = columns or self._scan.table.columns
        groups = Groups([GroupKey(one.name, one) for one in chosen], [count_of_rows()])
        where = FilterStep(f"{expressions.column(groups.headings[0])} > 1")
        of = ", ".join(column.name for column in columns) or "all columns"
        words = f"what is there more than once in {of}"
        steps = groups.steps(exact=self._scan.is_exact)
        self._add(*steps, where, words=words, name="duplicates")
        self._end_words()
        return self._made(is_figures=True)
