"""The real model, where SEMANTIC_MODEL names its folder."""

import os
from pathlib import Path

import numpy as np
import pytest

from kbd.providers import EmbedRequest
from kbd_semantic import LocalEmbedder
from kbd_semantic.folder import find_folder

pytestmark = pytest.mark.soak

SAME = (
    (
        "The tenant has to pay the rent on the first of each month.",
        "When is the lease payment due?",
    ),
    ("Revenue grew by a quarter over the previous year.", "How much did sales increase?"),
    ("Employees may work from home two days a week.", "rules on remote work for staff"),
    ("The court dismissed the appeal.", "what did the judges decide"),
)


@pytest.fixture(scope="module")
def folder() -> Path:
    """The folder of the real model, or a skip with its reason."""
    named = os.environ.get("SEMANTIC_MODEL", "")
    reason, found = LocalEmbedder({"model": named}).status().reason, find_folder(named)
    if reason is not None or found is None:
        pytest.skip(reason or "no model")
    return found


def test_what_means_the_same_lies_nearest(folder: Path) -> None:
    """Of the real model, vectors have length 1, and a question's is nearest to its answer's."""
    texts = [text for pair in SAME for text in pair]
    texts.append(" ".join(f"Paragraph {number} of a long agreement." for number in range(200)))
    embedder = LocalEmbedder({"model": str(folder)})
    try:
        made = embedder.embed_now(EmbedRequest("", tuple(texts), "passage"), 120)
    finally:
        embedder.close()
    vectors = np.frombuffer(made.data, "<f4").reshape(-1, made.size)

    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    said, asked = vectors[: len(SAME) * 2 : 2], vectors[1 : len(SAME) * 2 : 2]
    assert list((asked @ said.T).argmax(axis=1)) == list(range(len(SAME)))
