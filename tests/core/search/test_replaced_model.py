"""A server may serve another model under the same name; its vectors have another size."""

import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from indexed import PlainReader, write
from kbd.core.search.engine import WorkspaceEngine
from kbd.providers import Embeddings


class Sized:
    """Makes vectors of whatever size is set; a text's first letter is its direction."""

    model_id, most_texts, size = "near:small", 8, 4

    def fingerprint(self) -> str:
        """Always the same: nobody says that the model is another one."""
        return "near"

    def embed(self, texts: Sequence[str], purpose: str) -> Embeddings:
        """Return vectors of length 1."""
        del purpose
        rows = [
            [float(ord(text[0]) % self.size == at) for at in range(self.size)] for text in texts
        ]
        data = b"".join(struct.pack(f"<{self.size}f", *row) for row in rows)
        return Embeddings(data, self.size)


@pytest.mark.parametrize("changed", ["one document", "nothing"])
def test_vectors_of_a_model_that_was_replaced_are_made_anew(tmp_path: Path, changed: str) -> None:
    """The search that finds it out says so; the next one has all vectors of the new model."""
    write(tmp_path / "docs", apple="apples", banana="bananas")
    near = Sized()
    with WorkspaceEngine(
        tmp_path / "docs", tmp_path / "index", reader=PlainReader(), embed=near
    ) as engine:
        engine.refresh()
        assert engine.embed_some(10) == 0
        query = near.embed(["a"], "query")
        assert engine.find("a", 1, query).warnings == ()

        near.size = 8
        if changed == "one document":
            write(tmp_path / "docs", cherry="cherries")
            engine.refresh()
            engine.embed_some(10)
        query = near.embed(["a"], "query")
        found = engine.find("a", 1, query)
        assert "replaced" in found.warnings[0]
        assert engine.embedded == (changed == "one document")
        assert engine.embed_some(10) == 0
        assert engine.embedded == engine.num_chunks
        found = engine.find("a", 1, query)
        assert found.warnings == ()
        assert found.ranker != "bm25"
