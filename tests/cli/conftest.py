"""A scripted daemon with one workbench, and the command line that speaks to it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kbd.cli import main
from scripted_daemon import ScriptedDaemon
from scripted_job import whole_job


@pytest.fixture
def daemon(short_dir: Path) -> Iterator[ScriptedDaemon]:
    """A daemon in `short_dir` that does a whole job at once."""
    scripted = ScriptedDaemon(short_dir / "kbd.sock", whole_job())
    yield scripted
    scripted.close()


@pytest.fixture
def kbd(short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Run a command in this process, with the scripted daemon's home, and return its exit code."""
    monkeypatch.delenv("KBD_SOCKET", raising=False)
    monkeypatch.setenv("KBD_HOME", str(short_dir))
    return lambda *arguments: main(arguments)
