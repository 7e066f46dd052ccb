"""Another answer sends files once more: nobody is asked after the fact."""

from pathlib import Path

import pytest

from backends import on_trio
from kbd.core.api.runs import ConversationMethods
from kbd.core.domain.commands import GrantConsent, SendMessage, StartRun
from kbd.core.domain.consent import scope_hash
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import EgressConsentRequired
from kbd.requests.workshop import WorkshopRegenerate
from quiet import Quiet
from supervised import Supervised
from unattended_rig import MODEL, unattended, writes

pytestmark = [pytest.mark.anyio, on_trio]


async def _agree(running: Supervised, bench: OpenWorkbench, *, persist: bool) -> None:
    consent = running.context.egress.consent_to(bench.state, MODEL, persist=persist)
    await bench.keeper.submit(GrantConsent(consent, scope_hash(bench.state, MODEL)))


async def test_an_answer_is_given_once_more_with_consent_alone(tmp_path: Path) -> None:
    """A consent for one run does not hold for another answer, and then nothing is undone."""
    async with unattended(tmp_path / "h", writes("made.txt"), leaves=True) as (running, _):
        bench = await running.bench(a__txt="text")
        await bench.keeper.submit(SendMessage("u1", "do it"))
        await _agree(running, bench, persist=False)
        run = (await bench.keeper.submit(StartRun(None, MODEL))).run
        await running.runs.wait(bench, run)
        assert bench.state.run(run).status == "finished"
        methods = ConversationMethods(running.context, running.benches, running.runs)
        heard = bench.state.heard.keys()
        again = WorkshopRegenerate(workbench_id=bench.id, model_id=MODEL)
        with pytest.raises(EgressConsentRequired):
            await methods.regenerate(again, Quiet())
        assert [run.undone for run in bench.state.runs] == [False]
        assert bench.state.heard.keys() == heard
        # All that is recorded is that somebody is asked.
        (asked,) = bench.state.approvals.values()
        assert asked.request.kind == "consent"

        await _agree(running, bench, persist=True)
        assert (await methods.regenerate(again, Quiet())).status == "finished"
        assert [run.undone for run in bench.state.runs] == [True, False]
