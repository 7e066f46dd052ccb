"""The example of the library in the documentation does what it says, without a daemon."""

import sys
from pathlib import Path

import pytest

from documentation import code

LIBRARY = "how-to/library.md"


def test_the_program_of_the_guide_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It searches, calls a tool of its own, is told what helps, and has a model answer."""
    documents, said = tmp_path / "papers", list[str]()
    documents.mkdir()
    (documents / "lease.txt").write_text("The tenant pays for the heating.\nRent is due monthly.\n")
    (documents / "dogs.txt").write_text("Dogs are welcome.\n")
    monkeypatch.setenv("KBD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KBD_SEARCH_EMBEDDER", "none")
    monkeypatch.setattr(sys, "argv", ["-c", str(documents), str(documents / "index")])

    def say(*what: object) -> None:
        said.append(" ".join(map(str, what)))

    program = code(LIBRARY, "Use kbd as a library", "python")
    exec(compile(program, LIBRARY, "exec"), {"print": say})

    found, count, error, answer = said
    assert found.startswith("lease.txt lines 1-2 ")
    assert "tenant pays for the heating" in found
    assert count == "{'count': 2}"
    assert "did you mean lease?" in error
    assert answer == "The tenant pays for the heating (lease.txt). 2 workspace.search"
