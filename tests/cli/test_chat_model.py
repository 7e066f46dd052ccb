"""`kbd chat` with a model and the real daemon: calls in full, sizes, the answer, what it cost."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from chatted import typed
from kbd.cli import main
from model_server import Reply, call, calls, model_server, phase_of, text, turn_of
from real_daemon import RealDaemon

pytestmark = pytest.mark.full

PLAN = (
    "# Execution Plan\n\n## Task\nCount\n\n## Items\n- [ ] 1. Final: Answer\n\n## Notes\n- none\n"
)


def _play(body: dict[str, Any]) -> Reply:
    match phase_of(body):
        case "research" if not turn_of(body):
            return calls(call("read_file", {"path": "notes.md"}), call("read_fiel", {}))
        case "research":
            return text("# Research\n\nNotes.")
        case "plan":
            return text(PLAN)
        case "implement" if not turn_of(body):
            return calls(call("write_text_file", {"path": "b.md", "content": "twelve\n"}))
        case "implement":
            return text("There are twelve.")
        case _:
            return text("There are twelve, see b.md.")


def test_a_model_answers_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the log records of each call is told on stderr; the answer alone is on stdout."""
    (tmp_path / "notes.md").write_text("There are twelve.\n")
    home = Path(tempfile.mkdtemp(prefix="kbd-"))
    with model_server(_play) as model:
        environment = {"OPENAI_BASE_URL": model.base_url, "KBD_MODEL": "openai:m"}
        daemon = RealDaemon(home, environment=environment)
        daemon.start()
        try:
            typed(monkeypatch, "How many?", "/cost", "/review")
            arguments = ("--home", str(home), "chat", str(tmp_path), "--verbose", "--model", "m")
            code = main(arguments)
        finally:
            daemon.stop()
            shutil.rmtree(home, ignore_errors=True)
    told = capsys.readouterr()
    assert code == 0
    assert told.out.startswith("There are twelve, see b.md.\n")
    assert "1 + twelve\n" in told.out
    assert "since `kbd chat`   1     60         30" in told.out
    assert "  tool read_file called, entry 1: path=notes.md\n  read_file returned " in told.err
    assert "  tool read_fiel refused: " in told.err
    assert "read_fiel failed" not in told.err, "the line above tells it, and why"
    assert "  tool write_text_file called, entry " in told.err
    assert "openai:m took" in told.err
    assert "b.md" in told.err
