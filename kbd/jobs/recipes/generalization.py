"""Generalization of a job that ran: the same for other files of its shape, or why that cannot be.

file      the one that it was      a pattern: *.csv
columns   all that there are       those that steps name, each with what it holds
results   sales-by-region.xlsx     {sales}-by-region.xlsx
literals  as they stand            traced to the request, the language or a person
checks    as they stand            at least one row; values that are new are told
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import assert_never

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats.records import SheetForm
from kbd.jobs.expressions import parse_expression
from kbd.jobs.recipes.column_use import ColumnUse, InputColumn, column_use
from kbd.jobs.recipes.documents import recipe_of_plain
from kbd.jobs.recipes.facts import ColumnFacts, InputFacts, LearnedFacts
from kbd.jobs.recipes.file_patterns import (
    file_stem,
    file_template,
    has_period,
    input_patterns,
    stem_pattern,
)
from kbd.jobs.recipes.literals import JobLiteral, job_literals, step_expressions
from kbd.jobs.recipes.provenance import Provenance, RecipeRefusal, trace_literals
from kbd.jobs.recipes.records import LearnedFile, Recipe, RecipeConstant
from kbd.jobs.recipes.request_words import request_words
from kbd.jobs.recipes.table_labels import plain_labels, relabeled
from kbd.jobs.records import (
    Check,
    ConvertStep,
    FillStep,
    HoldsCheck,
    Input,
    Job,
    KnownValuesCheck,
    OutputStep,
    ReplaceStep,
    ReportStep,
    RowCountCheck,
    SplitStep,
    Step,
    ValueType,
    WriteStep,
)
from kbd.jobs.shapes import misfits
from kbd.jobs.terms import CallTerm, Term, children_of
from kbd.jobs.words import input_lines
from kbd.types import ReadAs

__all__ = ["Generalized", "generalize", "recipe_faults", "recipe_of"]

_MAX_CATEGORIES = 100
"""Values of a column of which a new one is told; of more there always is one."""


class Generalized(msgspec.Struct, frozen=True):
    """What a job is for other files.

    Args:
        job: The job.
        provenance: Where each literal of it comes from.
        refusals: Why it is no recipe; empty if it is.
        notes: What was left out, for people.
    """

    job: Job
    provenance: tuple[Provenance, ...] = ()
    refusals: tuple[RecipeRefusal, ...] = ()
    notes: tuple[str, ...] = ()


def generalize(
    job: Job, request: str, facts: LearnedFacts, agreed: Collection[str] = ()
) -> Generalized:
    """Return a job for other files of the same shape.

    Args:
        job: The job as it ran, its inputs bound to files.
        request: The words that it came from.
        facts: What was in the files, and what the run told.
        agreed: The values that a person agreed to, as refusals write them.

    Raises:
        ValidationFailed: The job does not fit the facts.
    """
    return _Generalization(job, request, facts, agreed).result()


class _Generalization:
    """Generalization of one job; its parameters are those of `generalize`."""

    def __init__(
        self, job: Job, request: str, facts: LearnedFacts, agreed: Collection[str]
    ) -> None:
        known = {each.name for each in facts.inputs}
        if lacking := [each.name for each in job.inputs if each.name not in known]:
            raise ValidationFailed(f'nothing is known of input "{lacking[0]}"')
        labels = plain_labels(job)
        job = relabeled(job, labels)
        facts = LearnedFacts(
            tuple(
                msgspec.structs.replace(each, name=labels.get(each.name, each.name))
                for each in facts.inputs
            ),
            facts.results,
        )
        self._facts = {each.name: each for each in facts.inputs}
        self._job = job
        self._learned = facts
        self._agreed = agreed
        names = [column.name for each in facts.inputs for column in each.columns]
        self._words = request_words(request, [each.file for each in facts.inputs], names)
        given = {each.name: each.given for each in facts.inputs if each.kind == "table"}
        self._use: ColumnUse = column_use(job, given)
        self._refusals: list[RecipeRefusal] = []
        self._notes: list[str] = []
        self._said: list[Provenance] = []

    def result(self) -> Generalized:
        """Return what the job is for other files."""
        shaped = [self._shaped(each) for each in self._job.inputs]
        patterns = self._patterns(shaped)
        inputs = [
            self._with_sheet(number, msgspec.structs.replace(each, file=patterns[each.name]))
            for number, each in enumerate(shaped)
        ]
        steps = [self._step(n, step, patterns) for n, step in enumerate(self._job.steps)]
        checks = (*self._job.checks, *self._added_checks())
        job = msgspec.structs.replace(
            self._job, inputs=tuple(inputs), steps=tuple(steps), checks=checks, constants={},
            title=self._title(),
        )  # fmt: skip
        traced, refused = trace_literals(
            (*job_literals(job), *self._use.values, *self._use.names),
            self._words, self._learned, self._agreed,
            is_dated_by_run=uses_today(job),
        )  # fmt: skip
        return Generalized(
            job, (*self._said, *traced), (*self._refusals, *refused), tuple(self._notes)
        )

    def _shaped(self, each: Input) -> Input:
        """Return an input with the columns that steps name."""
        facts = self._facts[each.name]
        if each.kind == "file":
            return each
        used = [use.column for use in self._use.used if use.input == each.name]
        columns: dict[str, ValueType] = {column.name: column.holds for column in used}
        if not self._must_be_closed(facts):
            return msgspec.structs.replace(each, columns=columns, doubts="refuse")
        self._notes.append(f"{each.name}: a file with other columns is not taken")
        rest: dict[str, ValueType] = {c.name: "any" for c in facts.columns}
        return msgspec.structs.replace(
            each, columns={**rest, **columns}, others=False, doubts="refuse"
        )

    def _must_be_closed(self, facts: InputFacts) -> bool:
        """Tell whether a further column would be missed.

        It would if the columns are values themselves, such as months, or if all numbers that there
        are are summed and the request does not name them.
        """
        used = [use.column.name for use in self._use.used if use.input == facts.name]
        if any(has_period(name) and not self._words.names(name) for name in used):
            return True
        numbers = {c.name for c in facts.columns if c.type in ("integer", "float")}
        sums = [
            {use.column.name for use in some if use.input == facts.name} for some in self._use.sums
        ]
        return len(numbers) > 1 and any(
            names >= numbers and not all(map(self._words.names, names)) for names in sums
        )

    def _patterns(self, shaped: Sequence[Input]) -> dict[str, str]:
        asked = {each.name: each for each in shaped}

        def is_other(one: str, other: str) -> bool:
            return bool(misfits(asked[one], self._facts[other].given))

        facts = [self._facts[each.name] for each in shaped]
        patterns, unclear = input_patterns(facts, is_other)
        for number, each in enumerate(shaped):
            for other in [other for one, other in unclear if one == each.name]:
                files = f"{self._facts[each.name].file} and {self._facts[other].file}"
                self._refusals.append(RecipeRefusal(
                    f"inputs[{number}].file", self._facts[each.name].file,
                    f"neither columns nor names tell {files} apart in other files; how many files"
                    " there are is a count of the data",
                ))  # fmt: skip
        return patterns

    def _with_sheet(self, number: int, each: Input) -> Input:
        """Return an input with its sheet if that has to be named."""
        if each.sheet is None:
            return each
        place, written = f"inputs[{number}].sheet", f"'{each.sheet}'"
        if self._words.says_text(each.sheet):
            self._said.append(
                Provenance(place, written, "request", f'the request says "{each.sheet}"')
            )
            return each
        alike = self._facts[each.name].alike_sheets
        if not alike and each.columns:
            self._notes.append(
                f'{each.name}: the sheet is found by its columns, not as "{each.sheet}"'
            )
            return msgspec.structs.replace(each, sheet=None)
        if written in self._agreed:
            text = f'a person agreed to "{each.sheet}"'
            self._said.append(Provenance(place, written, "agreed", text))
            return each
        others = f", as {', '.join(alike)} have, too" if alike else ""
        self._refusals.append(RecipeRefusal(
            place, written,
            f'the request does not name the sheet "{each.sheet}", and its columns do not tell which'
            f" it is{others}",
            may_agree=True,
        ))  # fmt: skip
        return each

    def _step(self, number: int, step: Step, patterns: Mapping[str, str]) -> Step:
        """Return a step with names that fit other files."""
        if not isinstance(step, OutputStep) or isinstance(step, ReportStep):
            return step
        match step:
            case WriteStep() | SplitStep():
                form = self._form(step.form)
                return msgspec.structs.replace(step, file=self._file(number, step.file), form=form)
            case FillStep() | ConvertStep():
                return msgspec.structs.replace(step, file=self._file(number, step.file))
            case ReplaceStep():
                by_file = {self._facts[name].file: pattern for name, pattern in patterns.items()}
                files = tuple(
                    by_file.get(name) or (name if "*" in name else stem_pattern(name))
                    for name in step.files
                )
                file = None if step.file is None else self._file(number, step.file)
                return msgspec.structs.replace(step, files=files, file=file)
            case _:
                assert_never(step)

    def _form(self, form: SheetForm) -> SheetForm:
        if not form.widths:
            return form
        # They are made of what stood in the columns.
        self._notes.append("widths of columns are left to what stands in them")
        return msgspec.structs.replace(form, widths={})

    def _file(self, number: int, name: str) -> str:
        """Return the name of a result with the inputs' names in their places."""
        stems = {}
        for each in self._facts.values():
            stem = file_stem(each.file)
            # What the request calls so stays, unless it is called like one month's file.
            if name not in self._words.files or has_period(stem):
                stems[each.name] = stem
        made = file_template(name, stems)
        folders = [each.file for each in self._facts.values() if each.file == name and "/" in name]
        if folders:
            self._refusals.append(RecipeRefusal(
                f"steps[{number}].file", name, "it is written in its folder over what it reads;"
                " a recipe writes files of its own",
            ))  # fmt: skip
        return made

    def _title(self) -> str:
        """Return the job's title, if it holds nothing of the data."""
        literal = JobLiteral("title", self._job.title, "title")
        _, refused = trace_literals([literal], self._words, self._learned)
        return "" if refused else self._job.title

    def _added_checks(self) -> Iterator[Check]:
        counted = {
            check.table
            for check in self._job.checks
            if isinstance(check, RowCountCheck) and check.minimum
        }
        for each in self._job.inputs:
            if each.kind == "table" and each.name not in counted:
                yield RowCountCheck(each.name, minimum=1)
        known = {
            (check.table, check.column)
            for check in self._job.checks
            if isinstance(check, KnownValuesCheck)
        }
        for use in self._use.categories:
            facts = self._column(use)
            count = len(facts.values)
            is_known = 0 < count == facts.distinct_count and count <= _MAX_CATEGORIES
            if is_known and facts.type == "string" and (use.input, facts.name) not in known:
                yield KnownValuesCheck(use.input, facts.name, facts.values, "tell")

    def _column(self, use: InputColumn) -> ColumnFacts:
        columns = self._facts[use.input].columns
        return next(each for each in columns if each.name == use.column.name)


def uses_today(job: Job) -> bool:
    """Tell whether a job works with the day of its run."""
    texts = [text for step in job.steps for text in step_expressions(step).values()]
    texts += [check.condition for check in job.checks if isinstance(check, HoldsCheck)]
    return any(_calls_today(parse_expression(text)) for text in texts)


def _calls_today(term: Term) -> bool:
    is_today = isinstance(term, CallTerm) and term.function == "today"
    return is_today or any(_calls_today(each) for each in children_of(term))


def recipe_of(
    name: str,
    request: str,
    parts: Sequence[Generalized],
    learned_from: Sequence[LearnedFile] = (),
    assumptions: Sequence[str] = (),
) -> Recipe:
    """Return the recipe of jobs for other files.

    Args:
        name: What it is called.
        request: The words that it came from.
        parts: The jobs, in order.
        learned_from: The files that it was learned from.
        assumptions: What a person agreed to, beside what the jobs say.

    Raises:
        ValidationFailed: One of them is refused; the message has each place and reason.
    """
    refused = [
        f"jobs[{number}].{each.place}: {each.reason}"
        for number, part in enumerate(parts)
        for each in part.refusals
    ]
    if refused:
        raise ValidationFailed(f"this is no recipe: {'; '.join(refused)}")
    constants = [
        RecipeConstant(f"jobs[{number}].{each.place}", each.value, each.text, each.origin)
        for number, part in enumerate(parts)
        for each in part.provenance
        if each.origin != "language"
    ]
    said = [text for part in parts for text in part.job.assumptions]
    said += [
        line
        for part in parts
        for each, line in zip(part.job.inputs, input_lines(part.job), strict=True)
        if each.read_as != ReadAs()
    ]
    recipe = Recipe(
        name, request, tuple(part.job for part in parts),
        assumptions=tuple(dict.fromkeys((*said, *assumptions))),
        constants=tuple(constants), learned_from=tuple(learned_from),
    )  # fmt: skip
    # Through the document's own rules, such as that of names.
    return recipe_of_plain(msgspec.json.decode(msgspec.json.encode(recipe)))


def recipe_faults(recipe: Recipe) -> tuple[RecipeRefusal, ...]:
    """Return the literals of a recipe that neither its constants nor the language explain.

    A recipe that `recipe_of` made has none; a person who writes another literal into one adds it to
    the constants with the reason.

    Raises:
        ValidationFailed: An expression is none.
    """
    known = {each.value for each in recipe.constants}
    words = request_words(recipe.request)
    found: list[RecipeRefusal] = []
    for number, job in enumerate(recipe.jobs):
        traced, refused = trace_literals(
            job_literals(job), words, LearnedFacts(), is_dated_by_run=True
        )
        open_ones = [(each.place, each.value) for each in traced if each.origin != "language"]
        open_ones += [(each.place, each.value) for each in refused]
        open_ones += [
            (f"inputs[{place}].sheet", f"'{each.sheet}'")
            for place, each in enumerate(job.inputs)
            if each.sheet is not None
        ]
        found += [
            RecipeRefusal(
                f"jobs[{number}].{place}", value, f"no constant says why {value} is there",
                may_agree=True,
            )
            for place, value in open_ones
            if value not in known
        ]  # fmt: skip
    return tuple(found)
