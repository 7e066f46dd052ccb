"""A fixture for the tests of proofs: a real workbench, opened and closed."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from agent_rig import Opened, Play, Rig, open_rig


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    """Opens rigs, each on its script, and closes them again."""

    def open_here(play: Play, **options: Any) -> AbstractAsyncContextManager[Rig]:
        return open_rig(tmp_path / "bench", play, **options)

    return open_here
