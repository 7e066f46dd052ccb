"""Commands that handlers have recorded: the answer is the same, told or waited for."""

from pathlib import Path

import pytest

from kbd.core.api.runs import WorkshopMethods
from kbd.errors import NotFound
from kbd.requests.base import Answer
from kbd.requests.workshop import MessageSent, WorkshopSendUserMessage
from kbd.types import WorkbenchId
from quiet import Quiet
from served import until
from supervised import supervised

pytestmark = pytest.mark.anyio


async def test_a_command_is_recorded_told_or_waited_for(tmp_path: Path) -> None:
    """Of an open workbench an answer can be had without a task; either way it is recorded once."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench()
        methods = WorkshopMethods(running.context, running.benches, running.runs)
        asked = WorkshopSendUserMessage(workbench_id=bench.id, text="hello")
        told: list[Answer | Exception] = []
        begin = methods.send(asked, Quiet()).begin
        assert begin is not None
        begin(told.append)
        assert told == []
        await until(lambda: told)
        waited_for = await methods.send(asked, Quiet()).wait()
        said = [each.message_id for each in bench.state.said]
        assert [*told, waited_for] == [MessageSent(message_id=each) for each in said]


async def test_a_closed_workbench_is_opened_in_a_task(tmp_path: Path) -> None:
    """To open one waits for more than the disk, so nothing can be begun without a task."""
    async with supervised(tmp_path / "h") as running:
        closed = (await running.bench()).id
    async with supervised(tmp_path / "h") as running:
        methods = WorkshopMethods(running.context, running.benches, running.runs)
        asked = WorkshopSendUserMessage(workbench_id=closed, text="hello")
        deferred = methods.send(asked, Quiet())
        assert deferred.begin is None
        assert running.benches.opened(closed) is None
        await deferred.wait()
        assert len((await running.benches.open(closed)).state.said) == 1
        unknown = WorkbenchId("00000000000000aa")
        asked = WorkshopSendUserMessage(workbench_id=unknown, text="hello")
        with pytest.raises(NotFound):
            await methods.send(asked, Quiet()).wait()
