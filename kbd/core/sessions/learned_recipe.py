"""A recipe learned from a run: its jobs out of the log, generalized, and tried.

What ran must be all that the run did to the files: a run that also edited by other tools is no
recipe. Whatever is refused is named with its place, and with how a person may agree to it.
"""

from collections.abc import Sequence

import msgspec
from anyio.to_thread import run_sync

from kbd.core.domain.run_state import Run, RunStatus
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.chained_jobs import checked_job, unchained
from kbd.core.sessions.drafted_calls import DraftedCall, read_drafted_calls, state_of_view
from kbd.core.sessions.recipe_facts import bound_job, learned_facts
from kbd.core.sessions.recipe_trials import MIN_TRIALS, JobTrials, TriedChange, try_job
from kbd.core.sessions.scratch_calls import ScratchCalls
from kbd.core.store.journal import Journal
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import NotFound, ValidationFailed
from kbd.events.drafts import FileChanged
from kbd.events.runs import (
    ItemFailed,
    ItemRetried,
    ItemStarted,
    ToolCalled,
    ToolReturned,
)
from kbd.jobs.documents import decode_job, job_of
from kbd.jobs.recipes.documents import decode_recipe
from kbd.jobs.recipes.generalization import Generalized, generalize, recipe_of
from kbd.jobs.recipes.provenance import RecipeRefusal
from kbd.jobs.recipes.records import LearnedFile, Recipe
from kbd.jobs.recipes.requests import JOB_PROVIDER, RECIPE_PROVIDER, document_of
from kbd.jobs.records import Job
from kbd.types import Seq

__all__ = ["Learned", "learn_recipe"]

_RUN_JOB = "run_job"
_PAGE_EVENTS = 5_000


class Learned(msgspec.Struct, frozen=True):
    """A recipe with what came of its trials.

    Args:
        recipe: The recipe.
        changes: The changed inputs that it was tried with.
        notes: What was left out, or could not be tried.
    """

    recipe: Recipe
    changes: tuple[TriedChange, ...]
    notes: tuple[str, ...]


class _Asked(msgspec.Struct, frozen=True):
    """The words that a run's jobs came from, and what a person agreed to before."""

    words: str
    agreed: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()


async def learn_recipe(
    context: ApiContext,
    workbench: OpenWorkbench,
    run: Run,
    name: str,
    agreed: Sequence[str],
    assumptions: Sequence[str],
) -> Learned:
    """Return the recipe of a run; nothing of the workbench is changed.

    Args:
        context: The daemon's.
        workbench: The run's workbench.
        run: The run.
        name: What the recipe is called.
        agreed: Values that a person agrees to, as refusals write them.
        assumptions: What a person takes for granted, in words.

    Raises:
        ValidationFailed: The run has no jobs, or did more than them; a literal has no reason; or a
            trial came out wrong. The message names each.
        KbdError: The files of then cannot be read.
    """
    if run.status is not RunStatus.FINISHED:
        raise ValidationFailed(f"run {run.number} did not finish: it is {run.status.value}")
    calls = await _job_calls(workbench, run)
    asked = _asked(workbench.state, run)
    state = state_of_view(calls[0].view)
    jobs = [await _job(workbench, call) for call in calls]
    if len(jobs) > 1:
        jobs = await unchained(context, workbench, state, jobs)
    async with ScratchCalls(context, workbench, state) as scratch:
        parts, files = [], set[str]()
        for number, job in enumerate(jobs, 1):
            part, paths = await _generalized(
                scratch, number, job, asked.words, (*asked.agreed, *agreed)
            )
            parts.append(part)
            files |= paths
        _refuse(parts)
        recipe = recipe_of(
            name, asked.words, parts, _learned_from(calls[0], files),
            (*asked.assumptions, *assumptions),
        )  # fmt: skip
        tried = [await try_job(scratch, job) for job in recipe.jobs]
    return Learned(recipe, *_judged(parts, tried))


async def _job_calls(workbench: OpenWorkbench, run: Run) -> list[DraftedCall]:
    """Return the calls by which a run carried out its jobs, in order."""
    journal = workbench.keeper.journal
    seqs, others = await run_sync(_run_calls, journal, run.number)
    if others:
        raise ValidationFailed(
            f"the run did more than its jobs: {', '.join(others)} changed files, too; a recipe"
            " repeats jobs alone"
        )
    if not seqs:
        raise ValidationFailed(
            "the run carried out no job, so there is nothing to repeat; jobs are written by models"
            " (run_job) and by people (kbd run --job FILE)"
        )
    found = await read_drafted_calls(journal, seqs)
    return [found[seq] for seq in seqs]


def _run_calls(journal: Journal, run: int) -> tuple[list[Seq], list[str]]:
    """Return the calls of `run_job` that count, and the other tools that changed files."""
    started: dict[str, tuple[Seq, str]] = {}
    done: list[Seq] = []
    attempt: list[Seq] = []
    writers: dict[str, None] = {}
    attempt_writers: dict[str, None] = {}
    after = Seq(0)
    while page := journal.log.read(after, _PAGE_EVENTS):
        for number, record in page:
            after = Seq(number)
            if record.run != run:
                continue
            match record.data:
                case ItemStarted():
                    done, attempt = [*done, *attempt], []
                    writers, attempt_writers = {**writers, **attempt_writers}, {}
                case ItemRetried() | ItemFailed():
                    # What the attempt wrote was taken back.
                    attempt, attempt_writers = [], {}
                case ToolCalled(call_id=call_id, tool=tool):
                    started[call_id] = (after, tool)
                case FileChanged(call_id=str(call_id)) if call_id in started:
                    if started[call_id][1] != _RUN_JOB:
                        attempt_writers[started[call_id][1]] = None
                case ToolReturned(call_id=call_id, ok=True) if call_id in started:
                    if started[call_id][1] == _RUN_JOB:
                        attempt.append(started[call_id][0])
                case _:
                    pass
    return [*done, *attempt], list({**writers, **attempt_writers})


async def _job(workbench: OpenWorkbench, call: DraftedCall) -> Job:
    arguments = msgspec.json.decode(await call.text(workbench.blobs))
    return job_of(arguments["job"])


def _asked(state: WorkbenchState, run: Run) -> _Asked:
    """Return the words that a run's jobs came from.

    Of a job that a person wrote these are its title and what it takes for granted: all else of it
    is what the recipe would have to explain.
    """
    message = state.request_of(run)
    if message is None:
        raise NotFound("the message of the run is not there any more")
    provider = message.model_id.partition(":")[0]
    if provider == JOB_PROVIDER:
        job = decode_job(document_of(message.text))
        return _Asked(job.title or "a job", assumptions=job.assumptions)
    if provider == RECIPE_PROVIDER:
        recipe = decode_recipe(document_of(message.text))
        return _Asked(
            recipe.request,
            tuple(each.value for each in recipe.constants if each.origin == "agreed"),
            recipe.assumptions,
        )
    return _Asked(message.text)


async def _generalized(
    scratch: ScratchCalls, number: int, job: Job, words: str, agreed: Sequence[str]
) -> tuple[Generalized, set[str]]:
    """Return a job for other files, and the files that it read."""
    checked = await checked_job(scratch, number, job)
    facts = await learned_facts(scratch, job, checked)
    paths = {str(each["path"]) for each in checked["inputs"]}
    return generalize(bound_job(job, checked), words, facts, agreed), paths


def _refuse(parts: Sequence[Generalized]) -> None:
    """Refuse jobs whose literals are not explained, each by its place.

    Raises:
        ValidationFailed: There are some; `detail` has them, too.
    """
    refused = [
        (f"jobs[{number}].{each.place}", each)
        for number, part in enumerate(parts)
        for each in part.refusals
    ]
    if not refused:
        return
    told = "; ".join(f"{place}: {_refusal_text(each)}" for place, each in refused)
    raise ValidationFailed(
        f"this is no recipe yet: {told}",
        detail={
            "refusals": [
                {
                    "place": place,
                    "value": each.value,
                    "reason": each.reason,
                    "may_agree": each.may_agree,
                }
                for place, each in refused
            ]
        },
    )


def _refusal_text(refusal: RecipeRefusal) -> str:
    agree = f" (agree to it: {refusal.value})" if refusal.may_agree else ""
    return f"{refusal.value}: {refusal.reason}{agree}"


def _learned_from(call: DraftedCall, files: set[str]) -> tuple[LearnedFile, ...]:
    return tuple(
        LearnedFile(name, call.view[name].blob) for name in sorted(call.view) if name in files
    )


def _judged(
    parts: Sequence[Generalized], tried: Sequence[JobTrials]
) -> tuple[tuple[TriedChange, ...], tuple[str, ...]]:
    """Return the changes that held, and notes; refuse what came out wrong or was hardly tried.

    Raises:
        ValidationFailed: A result was wrong, or too few changed inputs held.
    """
    faults = [fault for each in tried for fault in each.faults]
    if faults:
        raise ValidationFailed(f"a trial came out wrong: {'; '.join(faults[:5])}")
    notes = [note for part in parts for note in part.notes]
    changes: list[TriedChange] = []
    for number, each in enumerate(tried, 1):
        held = [change for change in each.changes if not change.stopped]
        notes += [
            f"a guard stops it at changed files ({change.text}): {change.stopped}"
            for change in each.changes
            if change.stopped
        ]
        if not each.changes:
            notes.append(f"job {number} reads no table, and was tried with its own files alone")
        elif len(held) < MIN_TRIALS:
            raise ValidationFailed(
                f"job {number} was tried with {len(each.changes)} changed inputs, and"
                f" {len(held)} held: {'; '.join(notes[-3:])}"
            )
        changes += held
    return tuple(changes), tuple(notes)
