"""What the offline provider makes of calls that fail by a fault of the machine: nothing."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import anyio
import pytest

from kbd.errors import ToolTimeout
from providers.offline.playing import Player

TABLE = "Shop,Amount\nBaker,4\nGrocer,5\n"
SLOW = "Error: TOOL_TIMEOUT: {} was stopped after 30 s"


class _SlowPlayer(Player):
    """A player whose machine is too slow for some tools, or for some files."""

    slow: Collection[str] = ()

    async def _result(self, name: str, arguments: dict[str, Any]) -> str:
        if name in self.slow or arguments.get("path") in self.slow:
            return SLOW.format(name)
        return await super()._result(name, arguments)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("tool", ["table_get_map", "table_describe", "check_job", "run_job"])
def test_a_fault_of_the_machine_ends_the_turn_by_its_code(tmp_path: Path, tool: str) -> None:
    """Whatever call it ends, there is no advice on what else to ask, and it may be tried again."""
    player = _SlowPlayer(tmp_path, {"t.csv": TABLE})
    player.slow = (tool,)
    with pytest.raises(ToolTimeout) as raised:
        anyio.run(player.run, "total Amount by Shop")
    assert (raised.value.message, raised.value.retryable) == (
        f"{tool} was stopped after 30 s",
        True,
    )


def test_what_a_table_that_was_read_does_not_have_is_said_beside_what_was_not(
    tmp_path: Path,
) -> None:
    """It may stand in the table that was too slow."""
    player = _SlowPlayer(tmp_path, {"a.csv": "Place,Size\nX,1\nY,2\n", "t.csv": TABLE})
    player.slow = ("t.csv",)
    outcome = anyio.run(player.run, "total Amount by Shop")
    assert "t.csv was not read: TOOL_TIMEOUT: table_get_map was stopped" in outcome.summary
    assert player.written() == []
