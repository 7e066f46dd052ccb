"""Execution of a watch job, from its workbench to its outcome, resumable at every step.

Each step is done unless the log says that it was. The workbench is made once, under the id that the
log names, with the files that landed. If none of them can be read, no run is made: the job fails.
"""

import resource
from functools import partial
from pathlib import Path

import anyio
from anyio.to_thread import run_sync

from kbd.core.domain.commands import (
    AddFiles,
    GrantConsent,
    InterruptRun,
    SendMessage,
    StartRun,
)
from kbd.core.domain.run_state import Run, RunStatus
from kbd.core.domain.watch_state import Ended, carries_consent
from kbd.core.domain.workbench_state import folded_name
from kbd.core.gateway.gateway import Egress
from kbd.core.runtime.peers import ChildGate
from kbd.core.runtime.settings import Limits
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.approvals import request_consent, request_publish
from kbd.core.sessions.questions import open_questions, require_answers, say_reading
from kbd.core.sessions.recipes import request_of_recipe
from kbd.core.sessions.runs import RunTasks, open_files, open_formats
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.watch.deliveries import Deliveries, delivered_paths
from kbd.core.watch.job import (
    JobFile,
    JobResult,
    NextStep,
    WatchJob,
    decide_next_step,
    failed_items,
    is_own_draft,
    is_published,
    newest_job_run,
    next_message_id,
)
from kbd.core.watch.rule_commands import run_command
from kbd.core.workbench.publish import discard, publish
from kbd.core.workbench.sandbox import file_name
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import (
    EgressConsentRequired,
    FileReadFailed,
    KbdError,
    ToolWorkerUnavailable,
    UserCanceled,
    ValidationFailed,
    error_with_code,
)
from kbd.events.disk import LogPoisoned
from kbd.events.watches import WatchRule
from kbd.events.workbenches import FileAdded
from kbd.formats import Mappable
from kbd.types import FileName, RunId, WatchId

__all__ = ["WatchJobs", "check_readable", "grant_consent", "open_workbench"]

_NAME_CHARACTERS = 200
"""As long as the name of a workbench may be that a client makes."""


async def open_workbench(workbenches: Workbenches, job: WatchJob, limits: Limits) -> OpenWorkbench:
    """Open the job's workbench with its files; make what of that is not there yet.

    Raises:
        SandboxViolation: A path is no name for a file of a workbench.
        ValidationFailed: Two files would have one name, or there are too many.
        FileReadFailed: A copy is not there any more, or not what it was.
        KbdError: The workbench cannot be made or opened.
    """
    names = _files_by_name(job)
    # The id is in the daemon's log since the job began: after a crash the same workbench is found.
    if job.workbench_id not in workbenches.daemon.state.workbenches:
        await workbenches.create(_workbench_name(job), job.workbench_id)
    workbench = await workbenches.open(job.workbench_id)
    # Once a run was begun all were there: what is not there now, a person took out.
    if newest_job_run(workbench.state) is None:
        await _add_files(workbench, names, job.rule.folder, limits.files)
    return workbench


async def grant_consent(
    workbench: OpenWorkbench, egress: Egress, job: WatchJob, model_id: str
) -> None:
    """Check that the run may be made, and grant the consent that the rule carries.

    Raises:
        EgressConsentRequired: Nobody agreed that what lands may be sent to this model.
        KbdError: The model cannot be called; the message says what is missing.
    """
    egress.check_set_up(model_id)
    if egress.consented(workbench.state, model_id):
        return
    endpoint = egress.endpoint(model_id)
    if not carries_consent(job.rule, model_id, endpoint):
        place = endpoint or model_id.partition(":")[0]
        msg = (
            f"what lands here would be sent to {place} (model {model_id}), and "
            f"nobody agreed to that: kbd watch resume {job.watch_id} --consent"
        )
        raise EgressConsentRequired(msg)
    consent = egress.consent_to(workbench.state, model_id, persist=False)
    await workbench.keeper.submit(GrantConsent(consent, consent.scope_hash))


def _retry_command(job: WatchJob) -> str:
    """Return the command that has a job's files worked on again, which takes answers."""
    numbers = ",".join(str(file.landing_id) for file in job.files)
    which = numbers if len(job.files) <= _MAX_NUMBERS else "all"
    return f"kbd watch failed {job.watch_id} --retry {which}"


_MAX_NUMBERS = 10
"""Files that a command names by their numbers."""


def _workbench_name(job: WatchJob) -> str:
    more = len(job.files) - 1
    name = f"{job.rule.name}: {job.files[0].path}" + (f" and {more} more" if more else "")
    return name if len(name) <= _NAME_CHARACTERS else name[: _NAME_CHARACTERS - 1] + "…"


def _files_by_name(job: WatchJob) -> dict[FileName, JobFile]:
    """Return the files by their names in the workbench.

    Raises:
        SandboxViolation: A path is no name for a file of a workbench.
        ValidationFailed: Two would have one name on some machine.
    """
    names: dict[FileName, JobFile] = {}
    taken: dict[str, str] = {}
    for file in job.files:
        name = file_name(file.path)
        other = taken.setdefault(folded_name(name), file.path)
        if other != file.path:
            msg = f"{other!r} and {file.path!r} would have the same name in a workbench"
            raise ValidationFailed(msg)
        names[name] = file
    return names


async def _add_files(
    workbench: OpenWorkbench, names: dict[FileName, JobFile], folder: str, limit: int
) -> None:
    missing: list[FileAdded] = []
    for name, file in names.items():
        entry = workbench.state.files.get(name)
        if entry is not None and entry.origin == file.sha256:
            continue
        blob, size_bytes = await workbench.blobs.put_file(file.copy)
        # Hashed again as it is read: a damaged copy must not pass for what landed.
        if blob != file.sha256:
            msg = f"the copy of {file.path!r} is not what it was when it landed"
            raise FileReadFailed(msg)
        source = str(Path(folder, file.path))
        missing.append(FileAdded(name, blob, size_bytes, source_path=source))
    if missing:
        outcome = await workbench.keeper.submit(AddFiles(tuple(missing), limit))
        added = {event.name for event in outcome.events if isinstance(event, FileAdded)}
        for refused in (file.name for file in missing if file.name not in added):
            msg = f"the workbench has another file of the name {refused!r}"
            raise ValidationFailed(msg)
    # Also those of an attempt before: a full disk may have come between the event and the file.
    published = {name: entry.blob for name, entry in workbench.state.files.items()}
    await run_sync(partial(workbench.files.restore_missing, published))


async def check_readable(context: ApiContext, workbench: OpenWorkbench) -> None:
    """Check that one file at least can be read; a file of no known format counts as readable.

    A model that meets a damaged file often says so and changes nothing, which would pass for a run
    with nothing to do. What is looked at here is the map that the run's first prompt shows anyway,
    so nothing is computed twice.

    Args:
        context: The daemon's.
        workbench: The workbench before its first run.

    Raises:
        FileReadFailed: None of them can be read; the message is that of the first.
    """
    files, formats = (
        open_files(context, workbench, published=True),
        open_formats(context, workbench),
    )
    first: FileReadFailed | None = None
    names = files.names()
    for name in names:
        file = files.get(name)
        try:
            if isinstance(formats.for_name(name), Mappable):
                await formats.map(file)
            else:
                await formats.info(file)
        except FileReadFailed as error:
            first = first or error
        except KbdError:
            return  # A worker that took too long, say: the run will tell.
        else:
            return
    if first is not None:
        more = f" (nor can {len(names) - 1} more)" if len(names) > 1 else ""
        raise FileReadFailed(f"{first.message}{more}", retryable=False)


_MESSAGE_CHARACTERS = 300
"""How much of what a model said is told with an outcome; all of it is in the workbench."""

_MAX_STARTS = 2
"""A run that was interrupted although the daemon goes on is resumed once."""


class WatchJobs:
    """Carries out the jobs of watched folders.

    Args:
        context: The daemon's.
        workbenches: Its workbenches.
        runs: Its runs.
        gate: Lets the commands of rules speak to the daemon; nobody asks it if None.
        open_files: How many files commands may open; as many as this process if None.
    """

    def __init__(
        self,
        context: ApiContext,
        workbenches: Workbenches,
        runs: RunTasks,
        gate: ChildGate | None = None,
        open_files: int | None = None,
    ) -> None:
        self._context, self._workbenches, self._runs = context, workbenches, runs
        self._gate = gate or ChildGate()
        self._open_files = open_files or resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._deliveries = Deliveries(workbenches.daemon, context.clock)

    async def carry_out(self, job: WatchJob) -> JobResult:
        """Bring a job to its outcome, from wherever it stopped: there is one run of it.

        While the daemon stops it waits to be canceled: what is left is done after the next start.

        Raises:
            LogPoisoned: The disk failed, and the daemon must stop.
        """
        opened_s = float("-inf")
        # Between two steps nothing is under way in it, and it could be closed as idle.
        with self._workbenches.held(job.workbench_id):
            try:
                workbench = await open_workbench(
                    self._workbenches, job, self._context.settings.limits
                )
                opened_s = self._context.clock.monotonic_s()
                result = await self._carry_out(workbench, job)
            # The daemon stops for it (reliability, R11); an outcome could not be recorded either.
            except LogPoisoned:
                raise
            except KbdError as error:
                # No outcome is recorded: the next daemon finds the job under way, and resumes it.
                if self._runs.is_stopping:
                    await anyio.sleep_forever()
                result = self._failed(job, error)
        # Thousands of files may land: what only the job asked for is not kept open.
        await self._workbenches.release(job.workbench_id, opened_s)
        return result

    async def notify(
        self, watch_id: WatchId, rule: WatchRule, ended: Ended
    ) -> tuple[int | None, str]:
        """Run the rule's command for an outcome; return its exit code, or why there is none."""
        return await run_command(
            watch_id,
            rule,
            ended,
            holds_key=self._context.egress.contains_key,
            limit_s=self._context.settings.watch.command_s,
            umask=self._context.home.umask,
            gate=self._gate,
            open_files=self._open_files,
        )

    async def _carry_out(self, workbench: OpenWorkbench, job: WatchJob) -> JobResult:
        # After a recipe that declined there may be a run of the model.
        for _ in range(_MAX_STARTS + (job.rule.recipe is not None)):
            next_step = decide_next_step(workbench.state, self._reported(job))
            if next_step is NextStep.ASK_AGAIN:
                await _discard_draft(workbench)
            if next_step in (NextStep.ASK, NextStep.ASK_AGAIN):
                await workbench.keeper.submit(self._message(workbench, job))
            if next_step is not NextStep.CONCLUDE:
                await self._run(workbench, job, is_under_way=next_step is NextStep.WAIT)
            run = newest_job_run(workbench.state)
            if run is not None and _asks_model_next(workbench, job, run):
                message_id = next_message_id(workbench.state)
                await workbench.keeper.submit(SendMessage(message_id, job.rule.prompt))
                continue
            if run is not None and run.status is not RunStatus.INTERRUPTED:
                return await self._conclude(workbench, job, run)
            if self._runs.is_stopping:
                await anyio.sleep_forever()
        msg = "the run was interrupted"
        raise ToolWorkerUnavailable(msg)

    def _message(self, workbench: OpenWorkbench, job: WatchJob) -> SendMessage:
        """Return what is asked first: the rule's recipe as it is now, or its prompt.

        Raises:
            NotFound: The recipe is not there any more, and the rule asks no model.
        """
        message_id, rule = next_message_id(workbench.state), job.rule
        if rule.recipe is not None:
            try:
                asked = request_of_recipe(self._workbenches.daemon.state, rule.recipe.name)
            except KbdError:
                if rule.recipe.otherwise == "park":
                    raise
            else:
                return SendMessage(message_id, asked.text, asked.model_id, asked.sha256)
        return SendMessage(message_id, rule.prompt)

    def _reported(self, job: WatchJob) -> set[RunId]:
        """Return the runs that the daemon's log says the job has failed with."""
        watch = self._workbenches.daemon.state.watching.watches.get(job.watch_id)
        known = watch.landings if watch is not None else {}
        return {known[f.landing_id].run_id for f in job.files if f.landing_id in known}

    async def _run(self, workbench: OpenWorkbench, job: WatchJob, *, is_under_way: bool) -> None:
        """Start or resume the run, unless it is under way, and wait for its end."""
        if not is_under_way:
            before, document = newest_job_run(workbench.state), _document_model(workbench)
            model_id = document or job.rule.model_id or self._context.egress.models.default()
            if before is None:
                await check_readable(self._context, workbench)
                await say_reading(self._context, workbench, job.rule.read_as.said())
            # A recipe says itself how its tables are read; what it leaves open declines its run.
            if not document and (before is None or _is_of_document(workbench, before)):
                asked = await open_questions(self._context, workbench, job.rule.prompt)
                require_answers(asked, _retry_command(job))
            try:
                await grant_consent(workbench, self._context.egress, job, model_id)
            except EgressConsentRequired as refused:
                refused.detail["model_id"] = model_id
                await request_consent(self._context, workbench, refused)
                raise
            await workbench.keeper.submit(StartRun(None, model_id))
        run = newest_job_run(workbench.state)
        if run is not None:
            await self._runs.wait(workbench, run.number)
            if workbench.state.active_run() is run:
                # Its end could not be recorded, for the disk was full: it can be resumed.
                await workbench.keeper.submit(InterruptRun("its end could not be recorded"))

    async def _conclude(self, workbench: OpenWorkbench, job: WatchJob, run: Run) -> JobResult:
        """Publish and deliver what a run left, as the rule wants, and return the result.

        Raises:
            KbdError: The job has failed.
        """
        run_id = workbench.state.run_id(run.number)
        if run.status is RunStatus.CANCELLED:
            raise UserCanceled("a person cancelled the run", retryable=False)
        if run.error is not None:
            failure = error_with_code(run.error.code, run.error.message)
            failure.retryable = run.error.retryable
            raise failure
        if not is_published(workbench.state, run):
            if run.undone:
                raise UserCanceled("a person undid the run", retryable=False)
            _check_refusal(workbench, job, run)
            _check_items(workbench, run)
            if run.discarded:
                raise UserCanceled("a person discarded the draft of the run", retryable=False)
            if workbench.state.draft is None:
                return JobResult("unchanged", run_id, message=_truncate(run.summary or ""))
            if job.rule.publish == "review":
                await request_publish(self._context, workbench, None)
                return JobResult("review", run_id)
            await self._publish(workbench, run)
        if job.rule.deliver_to is not None:
            await self._deliveries.deliver(workbench, job, job.rule.deliver_to)
        return JobResult("published", run_id, delivered=delivered_paths(workbench.state))

    async def _publish(self, workbench: OpenWorkbench, run: Run) -> None:
        """Publish what the run made, if nothing in it waits for a person.

        Raises:
            KbdError: Something does; the draft is left as it is.
        """
        try:
            if workbench.state.publish is None and not is_own_draft(workbench.state, run):
                msg = "others than the run worked on its draft"
                raise ValidationFailed(msg)
            await publish(
                workbench,
                self._context.clock,
                names=None,
                keep_both=False,
                # Nobody is there to accept new links to the outside (reliability, C6).
                accept_external=False,
                progress=lambda _: None,
            )
        except KbdError as error:
            if error.retryable or isinstance(error, LogPoisoned):
                raise
            if workbench.state.draft is not None and workbench.state.publish is None:
                await request_publish(self._context, workbench, None)
            raise error_with_code(error.code, f"{error.message}{_review_hint(workbench)}") from None

    def _failed(self, job: WatchJob, error: KbdError) -> JobResult:
        """Return the outcome of a job that an error has ended."""
        workbench = self._workbenches.opened(job.workbench_id)
        run = newest_job_run(workbench.state) if workbench is not None else None
        return JobResult(
            "failed",
            workbench.state.run_id(run.number)
            if workbench is not None and run is not None
            else RunId(""),
            error.code,
            error.message,
            error.retryable,
            delivered_paths(workbench.state) if workbench is not None else (),
        )


async def _discard_draft(workbench: OpenWorkbench) -> None:
    """Discard the draft that the last run left.

    Raises:
        ValidationFailed: A person works in this workbench.
    """
    if workbench.state.draft is None:
        return
    run = newest_job_run(workbench.state)
    if run is None or not is_own_draft(workbench.state, run):
        msg = f"a draft of somebody's own is open{_review_hint(workbench)}, then retry"
        raise ValidationFailed(msg)
    await discard(workbench)


def _document_model(workbench: OpenWorkbench) -> str:
    """Return the model that alone reads the newest message, or ""."""
    asked = workbench.state.last_request()
    return asked.model_id if asked is not None else ""


def _is_of_document(workbench: OpenWorkbench, run: Run) -> bool:
    asked = workbench.state.request_of(run)
    return asked is not None and bool(asked.model_id)


def _asks_model_next(workbench: OpenWorkbench, job: WatchJob, run: Run) -> bool:
    """Tell whether a recipe declined a job that its rule has a model do then."""
    recipe = job.rule.recipe
    is_declined = run.status is RunStatus.DECLINED and _is_of_document(workbench, run)
    return is_declined and recipe is not None and recipe.otherwise == "model"


def _check_refusal(workbench: OpenWorkbench, job: WatchJob, run: Run) -> None:
    """Raise the guard of a recipe that stopped a run.

    Raises:
        ValidationFailed: One did; nothing was written.
    """
    recipe = job.rule.recipe
    if run.refusal is not None and recipe is not None and _is_of_document(workbench, run):
        msg = f"a guard of the recipe {recipe.name} stopped it: {run.refusal.reason}"
        raise ValidationFailed(msg, retryable=False)


def _check_items(workbench: OpenWorkbench, run: Run) -> None:
    """Raise what some items of the plan failed with.

    Raises:
        KbdError: Some have; the code is that of the first of them.
    """
    failed = failed_items(run)
    if failed and run.plan is not None:
        count = f"{len(failed)} of {len(run.plan.items)} items failed"
        left = _review_hint(workbench) if workbench.state.draft is not None else ""
        reason = failed[0].reason if not failed[0].declined else _truncate(failed[0].answer)
        code = failed[0].code if not failed[0].declined else ValidationFailed.code
        failure = error_with_code(code, f"{count}: {reason}{left}")
        failure.retryable = False
        raise failure


def _truncate(text: str) -> str:
    """Truncate a text of a model to one line."""
    line = " ".join(text.split())
    return line if len(line) <= _MESSAGE_CHARACTERS else f"{line[: _MESSAGE_CHARACTERS - 1]}…"


def _review_hint(workbench: OpenWorkbench) -> str:
    """Return the hint on how to review a draft that is left."""
    return f"; its draft waits: kbd review {workbench.id}"
