"""Every tool of the library does with real files: they are summarized, listed, found, read."""

import shutil
from pathlib import Path

import pytest

from kbd.core.search.engine import WorkspaceEngine
from kbd.core.search.tools import WorkspaceTools

pytestmark = [pytest.mark.corpora, pytest.mark.full]

EVERY = 12
LARGEST_BYTES = 1 << 20


def test_every_document_has_a_summary(
    corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within the length wanted, of its own text, whatever its format; or it says why not."""
    monkeypatch.setenv("KBD_HOME", str(tmp_path / "home"))
    papers = tmp_path / "papers"
    papers.mkdir()
    files = sorted(path for path in corpora.rglob("*") if path.is_file())
    for path in files[::EVERY]:
        if path.stat().st_size <= LARGEST_BYTES:
            shutil.copy(path, papers / f"{path.parent.name} {path.name}")
    silent, made = 0, 0
    with WorkspaceEngine(papers, tmp_path / "index", embed=None) as engine:
        tools = WorkspaceTools(engine)
        for document in tools.execute("workspace.list_docs")["documents"]:
            doc_id = document["doc_id"]
            told = tools.execute("workspace.summarize", {"doc_id": doc_id, "max_length": 300})
            if "error" in told:
                assert told["code"] == "NOT_FOUND", told
                silent += 1
                continue
            text = tools.execute("workspace.get_doc", {"doc_id": doc_id})["text"]
            assert len(told["summary"]) <= 300, document
            assert bool(told["summary"]) is bool(text.strip()), document
            made += 1
        found = tools.execute("workspace.search", {"query": "total revenue by region"})
    print(f"\n{made} summaries, {silent} documents without text, of {len(files)} files")

    assert made > 60
    assert silent < made // 4
    assert found["total"] == 5
