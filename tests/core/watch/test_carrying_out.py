"""Jobs: from what landed to an outcome, and what of it needs a person."""

from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from kbd.core.domain.commands import DiscardDraft, RequestCancel, SendMessage, StartRun
from kbd.core.domain.daemon_decisions import RecordDaemon
from kbd.core.domain.run_state import RunStatus
from kbd.core.runtime.settings import Limits, WatchSettings
from kbd.core.watch.job import JobResult, WatchJob
from kbd.core.workbench.publish import publish
from kbd.core.workbench.rewind import rewind_to
from kbd.errors import ProviderUnavailable
from kbd.events.watches import WatchConsent
from kbd.events.workbenches import ModelChosen, SettingChanged
from kbd.providers import ModelReply, ModelRequest
from kbd.types import FileName, RunId
from supervised import CLOCK, Supervised, files_in
from unattended_rig import MODEL, SETTINGS, WATCH, landed, reported, unattended, writes

pytestmark = pytest.mark.anyio

on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
on_trio = pytest.mark.parametrize("anyio_backend", ["trio"], indirect=True)
"""What becomes of a job does not hang on the loop; the tests without a mark run on both."""

IN, MADE = FileName("in.txt"), FileName("made.txt")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder for results."""
    folder = tmp_path / "out"
    folder.mkdir()
    return folder.resolve()


async def test_a_job_is_done_and_delivered(tmp_path: Path, out: Path) -> None:
    """What landed is added, a run is made, published, and only its results are delivered; once."""
    async with unattended(tmp_path / "h", writes("made.txt")) as (running, labour):
        job = await landed(
            running, tmp_path, {"in.txt": "a", "sub/in.txt": "b"}, publish="auto",
            deliver_to=str(out),
        )  # fmt: skip
        result = await labour.carry_out(job)

        bench = await running.benches.open(job.workbench_id)
        run_id = RunId(f"{job.workbench_id}-1")
        assert result == JobResult("published", run_id, delivered=(str(out / "made.txt"),))
        assert files_in(out) == {"made.txt": "made"}
        assert sorted(bench.state.files) == [IN, MADE, FileName("sub/in.txt")]
        assert bench.state.name == "reports: in.txt and 1 more"
        assert files_in(bench.folders.published)["sub/in.txt"] == "b"
        written = running.benches.daemon.state.watching.written
        (place,) = written[bench.state.files[MADE].blob]
        assert (place.folder, place.watch_id, place.depth) == (str(out), WATCH, 1)

        assert await labour.carry_out(job) == result
        assert len(bench.state.runs) == 1
        assert files_in(out) == {"made.txt": "made"}


@pytest.mark.parametrize("harm", ["flipped", "link", "gone"])
async def test_a_copy_that_is_not_what_landed_is_not_worked_on(tmp_path: Path, harm: str) -> None:
    """The job fails and says so; nothing of it is in the workbench, and mended it goes on."""
    async with unattended(tmp_path / "h", writes("made.txt")) as (running, labour):
        job = await landed(running, tmp_path, {"in.txt": "as it landed"})
        copy = job.files[0].copy
        copy.unlink()
        if harm == "flipped":
            copy.write_text("as it landEd")
        elif harm == "link":
            copy.symlink_to("/etc/hostname")
        result = await labour.carry_out(job)
        assert result.outcome == "failed"
        assert result.code in ("FILE_READ_FAILED", "SANDBOX_VIOLATION", "NOT_FOUND")
        bench = await running.benches.open(job.workbench_id)
        assert (list(bench.state.runs), bench.state.files) == ([], {})
        assert files_in(bench.folders.published) == {}

        copy.unlink(missing_ok=True)
        copy.write_text("as it landed")
        assert (await labour.carry_out(job)).outcome == "review"


@on_trio
async def test_what_only_a_job_used_is_not_kept_open(tmp_path: Path) -> None:
    """Thousands of files may land, and each has a workbench."""
    settings = msgspec.structs.replace(SETTINGS, watch=WatchSettings(open_workbenches=1))
    async with unattended(tmp_path / "h", writes("made.txt"), settings=settings) as (
        running, labour,
    ):  # fmt: skip
        job, somebodys = await landed(running, tmp_path), await running.bench()
        assert (await labour.carry_out(job)).outcome == "review"
        assert running.benches.running() == (somebodys,)


@on_asyncio
async def test_changes_wait_for_a_review_where_the_rule_wants_it(tmp_path: Path) -> None:
    """The draft is left, nothing is published; without a change there is nothing to wait for."""
    async with unattended(tmp_path / "h", writes("made.txt")) as (running, labour):
        job = await landed(running, tmp_path)
        assert (await labour.carry_out(job)).outcome == "review"
        bench = await running.benches.open(job.workbench_id)
        assert bench.state.draft is not None
        assert sorted(bench.state.files) == [IN]
    async with unattended(tmp_path / "h2", writes("in.txt", content="landed")) as (running, labour):
        job = await landed(running, tmp_path, publish="auto")
        assert (await labour.carry_out(job)).outcome == "unchanged"


@pytest.mark.parametrize("named", [{"model_id": MODEL}, {}])
async def test_the_provider_of_a_rule_is_disabled(tmp_path: Path, named: dict[str, Any]) -> None:
    """The job fails by its name without a run, whoever chose the model; enabled it goes on."""
    async with unattended(tmp_path / "h", writes("made.txt")) as (running, labour):
        daemon = running.benches.daemon
        await daemon.submit(RecordDaemon((ModelChosen(MODEL),)))
        await daemon.submit(RecordDaemon((SettingChanged("enabled", "false", "scripted"),)))
        job = await landed(running, tmp_path, **named)
        result = await labour.carry_out(job)
        assert (result.outcome, result.code) == ("failed", "PROVIDER_NOT_CONFIGURED")
        assert "kbd providers enable scripted" in result.message
        assert not result.retryable
        bench = await running.benches.open(job.workbench_id)
        assert bench.state.runs == []

        await daemon.submit(RecordDaemon((SettingChanged("enabled", "true", "scripted"),)))
        assert (await labour.carry_out(job)).outcome == "review"


@on_trio
async def test_nothing_leaves_the_machine_without_consent(tmp_path: Path) -> None:
    """The job fails and says how to agree; with the rule's consent for this model it goes on."""
    async with unattended(tmp_path / "h", writes("made.txt"), leaves=True) as (running, labour):
        job = await landed(running, tmp_path)
        for consent in (None, WatchConsent("scripted", "scripted:other")):
            rule = msgspec.structs.replace(job.rule, consent=consent)
            result = await labour.carry_out(msgspec.structs.replace(job, rule=rule))
            assert (result.outcome, result.code) == ("failed", "EGRESS_CONSENT_REQUIRED")
            assert f"kbd watch resume {WATCH} --consent" in result.message
            assert not result.retryable
        bench = await running.benches.open(job.workbench_id)
        assert bench.state.runs == []

        rule = msgspec.structs.replace(job.rule, consent=WatchConsent("scripted", MODEL))
        agreed = msgspec.structs.replace(job, rule=rule)
        assert (await labour.carry_out(agreed)).outcome == "review"
        assert len(bench.state.said) == 2
        assert [consent.persist for consent in bench.state.consents] == [False]


@on_asyncio
async def test_a_model_that_cannot_be_called_is_said(tmp_path: Path) -> None:
    """The code is the provider's; a person has to do something, so nothing is tried again."""
    async with unattended(tmp_path / "h", writes()) as (running, labour):
        job = await landed(running, tmp_path, model_id="nobody:model")
        result = await labour.carry_out(job)
        assert (result.outcome, result.code, result.retryable) == ("failed", "NOT_FOUND", False)


@on_trio
async def test_a_run_that_fails_is_resumed(tmp_path: Path) -> None:
    """A retry is the same run; asked about again before it, the failure is the same."""
    is_up = False

    def play(request: ModelRequest) -> ModelReply:
        if not is_up:
            raise ProviderUnavailable("out of order")
        return writes("made.txt")(request)

    async with unattended(tmp_path / "h", play) as (running, labour):
        job = await landed(running, tmp_path)
        result = await labour.carry_out(job)
        assert result.code == "PROVIDER_UNAVAILABLE"
        assert result.message.startswith("out of order")
        assert result.retryable
        assert await labour.carry_out(job) == result
        is_up = True
        assert await labour.carry_out(job) == result  # it was not yet told: a crash came between
        again = await reported(running, job, result)
        assert (await labour.carry_out(again)).outcome == "review"
        assert len((await running.benches.open(job.workbench_id)).state.runs) == 1


@on_asyncio
async def test_failed_items_need_a_person(tmp_path: Path) -> None:
    """What the others made is left as a draft, not published; a retry is a run of its own."""
    names = ["made.txt", ""]

    def play(request: ModelRequest) -> ModelReply:
        return writes(*names)(request)

    async with unattended(tmp_path / "h", play) as (running, labour):
        job = await landed(running, tmp_path, publish="auto")
        result = await labour.carry_out(job)
        bench = await running.benches.open(job.workbench_id)
        assert (result.outcome, result.retryable) == ("failed", False)
        assert result.message.startswith("1 of 2 items failed: ")
        assert f"kbd review {bench.id}" in result.message
        assert bench.state.draft is not None
        assert await labour.carry_out(job) == result

        names[1] = "more.txt"
        again = await reported(running, job, result)
        assert (await labour.carry_out(again)).outcome == "published"
        assert [run.status for run in bench.state.runs] == [RunStatus.FINISHED] * 2
        assert sorted(bench.state.files) == [IN, MADE, FileName("more.txt")]


@on_trio
async def test_what_a_person_published_meanwhile_is_delivered(tmp_path: Path, out: Path) -> None:
    """A retry after that takes it as the result: no second run."""
    async with unattended(tmp_path / "h", writes("made.txt", "")) as (running, labour):
        job = await landed(running, tmp_path, publish="auto", deliver_to=str(out))
        again = await reported(running, job, await labour.carry_out(job))
        await _published(running, job)
        result = await labour.carry_out(again)

        assert (result.outcome, result.delivered) == ("published", (str(out / "made.txt"),))
        assert len((await running.benches.open(job.workbench_id)).state.runs) == 1


@on_asyncio
async def test_external_references_need_a_person(tmp_path: Path, out: Path) -> None:
    """They are not published unattended; a retry tries again, and one after a discard runs anew."""
    async with unattended(tmp_path / "h", writes("made.txt", tool="link_note")) as (
        running,
        labour,
    ):
        job = await landed(running, tmp_path, publish="auto", deliver_to=str(out))
        result = await labour.carry_out(job)
        assert (result.outcome, result.code) == ("failed", "VALIDATION_FAILED")
        assert "external references" in result.message
        bench = await running.benches.open(job.workbench_id)
        assert bench.state.draft is not None

        again = await reported(running, job, result)
        assert await labour.carry_out(again) == result
        assert len(bench.state.runs) == 1
        again = await reported(running, again, result)
        await bench.keeper.submit(DiscardDraft())
        assert await labour.carry_out(again) == msgspec.structs.replace(
            result, run_id=f"{bench.id}-2"
        )
        assert files_in(out) == {}


async def test_a_run_that_a_person_cancels_has_failed(tmp_path: Path) -> None:
    """It is not taken up again but by a person's retry, which goes on with it."""
    reached, is_cancelled = anyio.Event(), False

    def play(request: ModelRequest) -> ModelReply:
        if not is_cancelled:
            reached.set()
        return writes("made.txt")(request)

    async with unattended(tmp_path / "h", play) as (running, labour):
        job = await landed(running, tmp_path)
        results: list[JobResult] = []

        async def carry_out() -> None:
            results.append(await labour.carry_out(job))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(carry_out)
            await reached.wait()
            bench = await running.benches.open(job.workbench_id)
            await bench.keeper.submit(RequestCancel())
        (result,) = results
        assert (result.outcome, result.code) == ("failed", "USER_CANCELED")
        assert not result.retryable
        assert await labour.carry_out(job) == result
        is_cancelled = True
        again = await reported(running, job, result)
        assert (await labour.carry_out(again)).outcome == "review"
        assert len(bench.state.runs) == 1


@on_asyncio
async def test_a_run_that_a_person_undid_has_failed(tmp_path: Path, out: Path) -> None:
    """Nothing of it is delivered, nor is it told as without changes; a retry makes it anew."""
    async with unattended(tmp_path / "h", writes("made.txt")) as (running, labour):
        job = await landed(running, tmp_path, deliver_to=str(out))
        assert (await labour.carry_out(job)).outcome == "review"
        bench = await running.benches.open(job.workbench_id)
        (asked,) = (said for said in bench.state.said if said.role == "user")
        await rewind_to(bench, CLOCK, asked.message_id)

        result = await labour.carry_out(job)
        assert (result.outcome, result.code) == ("failed", "USER_CANCELED")
        assert result.message == "a person undid the run"
        assert not result.retryable
        assert files_in(out) == {}
        assert len(bench.state.runs) == 1
        again = await reported(running, job, result)
        assert (await labour.carry_out(again)).outcome == "review"
        assert [run.undone for run in bench.state.runs] == [True, False]


@on_trio
async def test_a_person_who_works_there_is_not_disturbed(tmp_path: Path) -> None:
    """A draft that is not the job's alone is neither discarded nor published by it."""
    async with unattended(tmp_path / "h", writes("made.txt", "")) as (running, labour):
        job = await landed(running, tmp_path, publish="auto")
        again = await reported(running, job, await labour.carry_out(job))
        bench = await running.benches.open(job.workbench_id)
        await bench.keeper.submit(SendMessage("u1", "do more"))
        run = (await bench.keeper.submit(StartRun(None, MODEL))).run
        await running.runs.wait(bench, run)
        result = await labour.carry_out(again)

        assert (result.outcome, result.code) == ("failed", "VALIDATION_FAILED")
        assert "somebody's own" in result.message
        assert bench.state.draft is not None


@on_asyncio
@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"a?.txt": "1"}, "SANDBOX_VIOLATION"),
        ({"a.txt": "1", "b.txt": "2", "c.txt": "3"}, "VALIDATION_FAILED"),
    ],
    ids=["no name", "too many"],
)
async def test_files_that_no_workbench_takes_are_said(
    tmp_path: Path, files: dict[str, str], code: str
) -> None:
    """No run is made, and nothing is tried again."""
    settings = msgspec.structs.replace(SETTINGS, limits=Limits(files=2))
    async with unattended(tmp_path / "h", writes(), settings=settings) as (running, labour):
        job = await landed(running, tmp_path, files)
        result = await labour.carry_out(job)
        assert (result.outcome, result.code, result.run_id) == ("failed", code, "")
        assert not result.retryable


@on_trio
async def test_two_files_of_one_name_are_said(tmp_path: Path) -> None:
    """Names that some machine would take for one are not made one file."""
    async with unattended(tmp_path / "h", writes()) as (running, labour):
        job = await landed(running, tmp_path, {"a.txt": "1"})
        twin = msgspec.structs.replace(job.files[0], path="A.txt")
        result = await labour.carry_out(msgspec.structs.replace(job, files=(*job.files, twin)))
        assert (result.outcome, result.code) == ("failed", "VALIDATION_FAILED")
        assert "'a.txt' and 'A.txt' would have the same name" in result.message


async def _published(running: Supervised, job: WatchJob) -> None:
    """Publish the draft, as a person."""
    bench = await running.benches.open(job.workbench_id)
    await publish(
        bench, CLOCK, names=None, keep_both=False, accept_external=True, progress=lambda _: None
    )
