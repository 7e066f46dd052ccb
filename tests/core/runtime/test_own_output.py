"""What is written past Python's streams: entries of the log, by the process or by the next one."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROCESS = """
import ctypes, os, sys
from pathlib import Path
from kbd.core.runtime import diagnostics
from kbd.core.runtime.own_output import OutputFile, told_output
output = OutputFile(Path(sys.argv[1]))
log = output.redirect()
diagnostics.configure(log, json=True, redact=lambda text: text.replace("sk-canary", "***"))
with told_output(output), diagnostics.captured_output():
    diagnostics.get_logger("test").info("started")
    exec(sys.argv[2])
"""


def _run(output: Path, act: str) -> tuple[int, list[dict[str, Any]], str]:
    """Run a process that does something; return its code, its log, and its standard output."""
    command = [sys.executable, "-c", PROCESS, str(output), act]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    # Each line is an entry, or this fails.
    return ran.returncode, [json.loads(each) for each in ran.stderr.splitlines()], ran.stdout


def _texts(entries: list[dict[str, Any]], event: str = "printed") -> list[str]:
    return [each["text"] for each in entries if each["event"] == event and "text" in each]


def test_what_is_written_to_descriptors_is_an_entry(tmp_path: Path) -> None:
    """Redacted and escaped, also half a line at the end; a child's output is as its parent's."""
    forged = '{"event": "forged"}\\nsk-canary\\x1b[2J\\n'
    act = f"os.write(1, b'{forged}'); os.write(2, b'half'); os.system('echo child >&2')"
    code, entries, printed = _run(tmp_path / "output", act)

    assert (code, printed) == (0, "")
    assert [each["event"] for each in entries if each["event"] != "printed"] == ["started"]
    assert _texts(entries) == ['{"event": "forged"}', "***\\x1b[2J", "halfchild"]
    # Told once: the next one finds nothing.
    assert _texts(_run(tmp_path / "output", "pass")[1], "last_words") == []


@pytest.mark.full
@pytest.mark.parametrize(
    ("act", "words"),
    [
        ("os.write(2, b'free(): invalid pointer sk-canary'); os.abort()", "invalid pointer ***"),
        ("ctypes.pythonapi.Py_FatalError(b'no way on')", "no way on"),
        ("os.write(1, b'gone\\n'); os._exit(3)", "gone"),
    ],
)
def test_the_last_words_of_a_process_are_told_by_the_next(
    tmp_path: Path, act: str, words: str
) -> None:
    """The allocator's, the interpreter's, a plugin's that ends the process."""
    code, entries, _ = _run(tmp_path / "output", act)
    assert code != 0
    assert [each["event"] for each in entries] == ["started"]
    told = _texts(_run(tmp_path / "output", "pass")[1], "last_words")
    assert any(words in each for each in told), told


@pytest.mark.full
def test_a_flood_is_limited_and_leaves_a_small_file(tmp_path: Path) -> None:
    """Neither the log nor the file grows with what is written; how much is lost is told."""
    act = "[os.write(1, b'y' * 99 + b'\\n' * 9901) for _ in range(2000)]"
    code, entries, _ = _run(tmp_path / "output", act)
    assert code == 0
    assert len(entries) < 2000
    assert any(each.get("lost_bytes", 0) > 0 for each in entries)
    assert (tmp_path / "output").stat().st_blocks * 512 <= 2 * 1024 * 1024


@pytest.mark.full
def test_a_file_with_a_second_name_is_left_alone(tmp_path: Path) -> None:
    """What lies in its place and may be anybody's is neither emptied nor written; all is told."""
    kept = tmp_path / "kept"
    for lay in ("hardlink_to", "symlink_to"):
        kept.write_text("mine")
        output = tmp_path / lay
        getattr(output, lay)(kept)
        _, entries, _ = _run(output, "os.write(1, b'said\\n')")
        assert _texts(entries) == ["said"]
        assert kept.read_text() == "mine"
