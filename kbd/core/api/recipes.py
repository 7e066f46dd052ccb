"""Methods of recipes: save, list, show, try on files, remove."""

from datetime import date
from typing import Any

import msgspec

from kbd.core.domain.daemon_decisions import DaemonCommand
from kbd.core.domain.recipe_state import (
    RemoveRecipe,
    SavedRecipe,
    SaveRecipe,
    decide_recipe,
    saved_recipe,
)
from kbd.core.domain.watch_state import WatchStatus
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.learned_recipe import Learned, learn_recipe
from kbd.core.sessions.recipes import checked_recipe
from kbd.core.sessions.scratch_calls import ScratchCalls
from kbd.core.sessions.workbenches import Workbenches
from kbd.errors import KbdError, NotFound, ValidationFailed
from kbd.events.codec import format_time, utc_day
from kbd.events.recipes import RecipeSaved
from kbd.jobs.columns import ShapeColumn, ShapeType
from kbd.jobs.recipes.documents import decode_recipe, encode_recipe_toml, recipe_hash
from kbd.jobs.recipes.records import Recipe
from kbd.jobs.recipes.requests import recipe_request, recipe_words
from kbd.jobs.records import Job, OutputStep, ValueType
from kbd.jobs.shapes import GivenTable
from kbd.jobs.statements import compile_job
from kbd.jobs.words import check_lines, input_lines, job_sentence, step_lines
from kbd.requests import recipes as wire
from kbd.requests.base import Request
from kbd.types import RunId, WorkbenchId

__all__ = ["RecipeMethods"]

DAEMON_LOG = WorkbenchId("daemon")


class RecipeMethods:
    """Handlers of recipes."""

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._context, self._workbenches = context, workbenches

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.RecipeSave: self.save,
            wire.RecipeList: self.list,
            wire.RecipeGet: self.get,
            wire.RecipeTest: self.test,
            wire.RecipeRemove: self.remove,
        }

    async def save(self, request: wire.RecipeSave, session: Session) -> wire.RecipeKept:
        """Save a recipe: learned from a run, or as a document.

        Raises:
            NotFound: There is no such run.
            ValidationFailed: It is no recipe, a literal of it has no reason, a trial came out
                wrong, or another recipe has the name.
        """
        session.name(DAEMON_LOG)
        document, run_id = request.document, request.run_id
        if isinstance(document, msgspec.UnsetType) == isinstance(run_id, msgspec.UnsetType):
            raise ValidationFailed("a recipe is saved of a run, or as a document: give one of them")
        named = None if isinstance(request.name, msgspec.UnsetType) else request.name
        if not isinstance(document, msgspec.UnsetType):
            if request.agree or request.assumptions:
                raise ValidationFailed("a document has its own constants and assumptions")
            recipe = checked_recipe(document)
            recipe = msgspec.structs.replace(recipe, name=named or recipe.name)
            row = await self._keep(
                recipe, RunId(""), session, replace=request.replace, dry_run=request.dry_run
            )
            return wire.RecipeKept(row, _constants(recipe), recipe.assumptions)
        assert not isinstance(run_id, msgspec.UnsetType)
        if named is None:
            raise ValidationFailed("a recipe of a run needs a name")
        learned = await self._learn(run_id, named, request)
        row = await self._keep(
            learned.recipe, run_id, session, replace=request.replace, dry_run=request.dry_run
        )
        return _kept(row, learned)

    def list(self, request: wire.RecipeList, session: Session) -> wire.RecipesFound:
        """List the recipes by name."""
        del request
        session.name(DAEMON_LOG)
        known = self._workbenches.daemon.state.recipes
        return wire.RecipesFound(recipes=tuple(_row(known[name]) for name in sorted(known)))

    def get(self, request: wire.RecipeGet, session: Session) -> wire.RecipeFound:
        """Show a recipe; raises NotFound if there is none of the name."""
        session.name(DAEMON_LOG)
        saved = saved_recipe(self._workbenches.daemon.state.recipes, request.name)
        recipe = decode_recipe(saved.document)
        return wire.RecipeFound(
            recipe=_row(saved),
            request=recipe.request,
            steps=tuple(
                line for job in recipe.jobs for line in (*input_lines(job), *step_lines(job))
            ),
            checks=tuple(line for job in recipe.jobs for line in check_lines(job)),
            assumptions=recipe.assumptions,
            constants=_constants(recipe),
            sql=_statements(recipe, self._today()),
            document=saved.document,
            model_id=recipe_request(recipe).model_id,
        )

    async def test(self, request: wire.RecipeTest, session: Session) -> wire.RecipeTested:
        """Tell what a recipe would do with the files of a workbench; nothing is written.

        Raises:
            NotFound: There is no such recipe, or no such workbench.
        """
        del session
        saved = saved_recipe(self._workbenches.daemon.state.recipes, request.name)
        recipe = decode_recipe(saved.document)
        workbench = await self._workbenches.open(request.workbench_id)
        async with ScratchCalls(self._context, workbench) as calls:
            tried = tuple([await _tried(calls, job) for job in recipe.jobs])
        return wire.RecipeTested(holds=not any(each.failed for each in tried), jobs=tried)

    async def remove(self, request: wire.RecipeRemove, session: Session) -> wire.RecipeUnlisted:
        """Remove a recipe.

        Raises:
            NotFound: There is none of the name.
            ValidationFailed: A watch works by it.
        """
        session.name(DAEMON_LOG)
        watches = self._workbenches.daemon.state.watching.watches.values()
        users = tuple(
            each.rule.name
            for each in watches
            if each.rule.recipe is not None
            and each.rule.recipe.name == request.name
            and each.status is not WatchStatus.REMOVED
        )
        await self._submit(RemoveRecipe(request.name, users), session)
        return wire.RecipeUnlisted()

    async def _learn(self, run_id: RunId, name: str, request: wire.RecipeSave) -> Learned:
        workbench_id, _, number = run_id.partition("-")
        with self._workbenches.held(WorkbenchId(workbench_id)):
            workbench = await self._workbenches.open(workbench_id)
            try:
                run = workbench.state.run(int(number))
            except IndexError:
                msg = f"there is no run {run_id}"
                raise NotFound(msg) from None
            return await learn_recipe(
                self._context, workbench, run, name, request.agree, request.assumptions
            )

    async def _keep(
        self, recipe: Recipe, run_id: RunId, session: Session, *, replace: bool, dry_run: bool
    ) -> wire.RecipeRow:
        # What is too long to be the message of a run is not saved.
        recipe_request(recipe)
        saved = RecipeSaved(recipe.name, recipe_hash(recipe), encode_recipe_toml(recipe), run_id)
        if dry_run:
            recipes = self._workbenches.daemon.state.recipes
            decide_recipe(recipes, SaveRecipe(saved, replace))
            now_us = self._context.clock.now_us()
            return _row(SavedRecipe(saved.name, saved.sha256, saved.document, run_id, now_us))
        await self._submit(SaveRecipe(saved, replace), session)
        return _row(saved_recipe(self._workbenches.daemon.state.recipes, recipe.name))

    def _today(self) -> date:
        return date.fromisoformat(utc_day(self._context.clock.now_us()))

    async def _submit(self, command: DaemonCommand, session: Session) -> None:
        await self._workbenches.daemon.submit(command, session.actor)


def _row(saved: SavedRecipe) -> wire.RecipeRow:
    return wire.RecipeRow(
        name=saved.name,
        sha256=saved.sha256,
        words=recipe_words(decode_recipe(saved.document)),
        saved_at=format_time(saved.saved_at_us),
        run_id=saved.run_id or msgspec.UNSET,
    )


def _kept(row: wire.RecipeRow, learned: Learned) -> wire.RecipeKept:
    """Return what is answered of a recipe that was learned, with the result of its best trial."""
    results = [(each, each.result) for each in learned.changes if each.result is not None]
    # One with a new category shows most; else one whose result was compared.
    results.sort(key=lambda each: (each[0].change != "new category", -each[0].compared))
    trial: wire.RecipeTrial | msgspec.UnsetType = msgspec.UNSET
    for shown, result in results[:1]:
        rows = result.rows
        trial = wire.RecipeTrial(shown.text, result.columns, rows[:_SHOWN_ROWS], len(rows))
    return wire.RecipeKept(
        recipe=row,
        constants=_constants(learned.recipe),
        assumptions=learned.recipe.assumptions,
        notes=learned.notes,
        changes=tuple(
            wire.RecipeChange(each.input, each.text, each.compared) for each in learned.changes
        ),
        trial=trial,
    )


_SHOWN_ROWS = 20
"""Of the result of a trial."""


def _constants(recipe: Recipe) -> tuple[wire.RecipeConstantRow, ...]:
    return tuple(
        wire.RecipeConstantRow(each.place, each.value, each.why, each.origin)
        for each in recipe.constants
    )


_SHAPE_TYPES: dict[ValueType, ShapeType] = {
    "text": "string", "number": "float", "date": "date", "datetime": "datetime", "time": "string",
    "boolean": "boolean", "any": "any",
}  # fmt: skip


def _statements(recipe: Recipe, today: date) -> tuple[wire.RecipeStatement, ...]:
    """Return the statements of a recipe by the columns that its inputs name."""
    found: list[wire.RecipeStatement] = []
    for number, job in enumerate(recipe.jobs, 1):
        given = {
            each.name: GivenTable(
                tuple(ShapeColumn(name, _SHAPE_TYPES[kind]) for name, kind in each.columns.items()),
                each.file,
            )
            for each in job.inputs
            if each.kind == "table"
        }
        try:
            compiled = compile_job(job, given, today)
        except ValidationFailed:
            # Its columns are those of a file; what it does is told in words.
            continue
        if compiled.wanted:
            continue
        found += [
            wire.RecipeStatement(number, step, compiled.rows(source))
            for step, source in enumerate(compiled.shapes.sources, 1)
            if source is not None and isinstance(job.steps[step - 1], OutputStep)
        ]
    return tuple(found)


async def _tried(calls: ScratchCalls, job: Job) -> wire.JobTried:
    """Return what a job would do, or why it cannot be carried out."""
    try:
        found: dict[str, Any] = await calls.call("check_job", job=msgspec.to_builtins(job))
    except KbdError as fault:
        return wire.JobTried(job_sentence(job), failed=(fault.message,))
    return wire.JobTried(
        words=found["words"],
        steps=tuple(found["steps"]),
        checks=tuple(found["checks"]),
        failed=tuple(found["failed"]),
        notes=tuple(found["notes"]),
        sql=tuple(found["sql"]),
    )
