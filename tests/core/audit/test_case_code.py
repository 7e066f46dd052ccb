"""A stranger's case file runs what is in it when Python is given it, and in no other way."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cased import case_bytes, contents, forged, workbench
from kbd.core.audit.case_file import MemberSource


def test_a_check_runs_nothing_of_a_strangers_case_file(tmp_path: Path) -> None:
    """Neither `kbd verify` nor another case file's verifier; and `python3 FILE` runs all of it.

    The file is whole by each of its hashes: only its code is another.
    """
    mark = tmp_path / "it-ran"
    evil = f"open({str(mark)!r}, 'w').close()\n".encode()
    own = contents(workbench(tmp_path / "bench"))
    other = tmp_path / "own.zip"
    other.write_bytes(case_bytes(tmp_path, own))
    sources = [
        MemberSource(each.name, len(evil), evil)
        if each.name == "__main__.py" or each.name.startswith("verify/")
        else each
        for each in own.sources
    ]
    strange = tmp_path / "strange.zip"
    strange.write_bytes(case_bytes(tmp_path, forged(own, sources)))

    environment = {"KBD_HOME": str(tmp_path / "h"), "PATH": os.environ["PATH"]}
    for command in (
        [sys.executable, "-m", "kbd", "verify", str(strange)],
        [sys.executable, str(other), str(strange)],
        [sys.executable, str(other), str(strange), "--extract", str(tmp_path / "out")],
    ):
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment,
            cwd=Path(__file__).parents[3],
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        assert not mark.exists()
    assert (tmp_path / "out" / "__main__.py").read_bytes() == evil
    subprocess.run([sys.executable, str(strange)], check=True)
    assert mark.exists()


@pytest.mark.parametrize("page", ["verify.md", "prove.md"])
def test_the_docs_say_so(page: str) -> None:
    """Where they tell how a case file or a receipt's checker is run."""
    text = (Path(__file__).parents[3] / "docs" / "how-to" / page).read_text()
    assert "runs what is in" in text
    assert "kbd verify" in text
