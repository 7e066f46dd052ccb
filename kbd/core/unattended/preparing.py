"""A job's workbench: made under the id that the log names, with the files that landed, once."""

from functools import partial
from pathlib import Path

from anyio.to_thread import run_sync

from kbd.core.domain.commands import AddFiles, GrantConsent
from kbd.core.domain.watch_state import carries_consent
from kbd.core.domain.workbench_state import folded_name
from kbd.core.gateway.gateway import Egress
from kbd.core.runtime.settings import Limits
from kbd.core.sessions.workbenches import Benches
from kbd.core.unattended.standing import job_run
from kbd.core.watcher import Job, JobFile
from kbd.core.workbench.sandbox import file_name
from kbd.core.workbench.workbench import Bench
from kbd.errors import EgressConsentRequired, FileReadFailed, ValidationFailed
from kbd.events.workbenches import FileAdded
from kbd.types import FileName

__all__ = ["agree", "open_for"]

_NAME_CHARACTERS = 200
"""As long as the name of a workbench may be that a client makes."""


async def open_for(benches: Benches, job: Job, limits: Limits) -> Bench:
    """Return the job's workbench with its files, whatever of that was there already.

    Raises:
        SandboxViolation: A path is no name for a file of a workbench.
        ValidationFailed: Two files would have one name, or there are too many.
        FileReadFailed: A copy is not there any more, or not what it was.
        KbdError: The workbench cannot be made or opened.
    """
    names = _names(job)
    if job.workbench_id not in benches.daemon.state.workbenches:
        await benches.create(_name(job), job.workbench_id)
    bench = await benches.open(job.workbench_id)
    # Once a run was begun all were there: what is not there now, a person took out.
    if job_run(bench.state) is None:
        await _add(bench, names, job.rule.folder, limits.files)
    return bench


async def agree(bench: Bench, egress: Egress, job: Job, model_id: str) -> None:
    """See to it that the run may be made, with the consent that the rule carries.

    Raises:
        EgressConsentRequired: Nobody agreed that what lands may be sent to this model.
        KbdError: The model cannot be called; the message says what is missing.
    """
    egress.check_set_up(model_id)
    if egress.consented(bench.state, model_id):
        return
    endpoint = egress.endpoint(model_id)
    if not carries_consent(job.rule, model_id, endpoint):
        place = endpoint or model_id.partition(":")[0]
        msg = (
            f"what lands here would be sent to {place} (model {model_id}), and "
            f"nobody agreed to that: kbd watch resume {job.watch_id} --consent"
        )
        raise EgressConsentRequired(msg)
    consent = egress.consent_to(bench.state, model_id, persist=False)
    await bench.keeper.submit(GrantConsent(consent, consent.scope_hash))


def _name(job: Job) -> str:
    more = len(job.files) - 1
    name = f"{job.rule.name}: {job.files[0].path}" + (f" and {more} more" if more else "")
    return name if len(name) <= _NAME_CHARACTERS else name[: _NAME_CHARACTERS - 1] + "…"


def _names(job: Job) -> dict[FileName, JobFile]:
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


async def _add(bench: Bench, names: dict[FileName, JobFile], folder: str, limit: int) -> None:
    missing: list[FileAdded] = []
    for name, file in names.items():
        entry = bench.state.files.get(name)
        if entry is not None and entry.origin == file.sha256:
            continue
        blob, size_bytes = await bench.blobs.put_file(file.copy)
        if blob != file.sha256:
            msg = f"the copy of {file.path!r} is not what it was when it landed"
            raise FileReadFailed(msg)
        source = str(Path(folder, file.path))
        missing.append(FileAdded(name, blob, size_bytes, source_path=source))
    if missing:
        outcome = await bench.keeper.submit(AddFiles(tuple(missing), limit))
        added = {event.name for event in outcome.events if isinstance(event, FileAdded)}
        for refused in (file.name for file in missing if file.name not in added):
            msg = f"the workbench has another file of the name {refused!r}"
            raise ValidationFailed(msg)
    # Also those of an attempt before: a full disk may have come between the event and the file.
    published = {name: entry.blob for name, entry in bench.state.files.items()}
    await run_sync(partial(bench.files.restore_missing, published))
