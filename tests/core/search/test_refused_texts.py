"""A text that an embedder refuses keeps no other from its vector."""

import struct
from collections.abc import Sequence

import pytest

from kbd.core.search.vector_index import MAX_REFUSED_TEXTS, embed_texts
from kbd.errors import KbdError, ProviderUnavailable, ValidationFailed
from kbd.messages import Usage
from kbd.providers import Embeddings, MalformedReply


class Choosy:
    """Takes no request that holds a refused text; counts the requests."""

    model_id, most_texts = "near:small", 8

    def __init__(self, refused: str, error: KbdError) -> None:
        self._refused, self._error = refused, error
        self.asked = 0

    def fingerprint(self) -> str:
        """Not asked for."""
        raise AssertionError

    def embed(self, texts: Sequence[str], purpose: str) -> Embeddings:
        """Return the direction of each text's first letter."""
        self.asked += 1
        if any(text in self._refused for text in texts):
            raise self._error
        data = b"".join(struct.pack("<2f", text == "a", text != "a") for text in texts)
        return Embeddings(data, 2, Usage(len(texts), 0))


@pytest.mark.parametrize("error", [ValidationFailed("no"), MalformedReply("no")])
def test_only_the_refused_text_has_no_meaning(error: KbdError) -> None:
    """It gets a vector of zeros, near to nothing; the others get theirs, and their cost counts."""
    made = embed_texts(Choosy("c", error), ["a", "b", "c", "a"], "passage")

    assert struct.unpack("<8f", made.data) == (1, 0, 0, 1, 0, 0, 1, 0)
    assert (made.size, made.usage) == (2, Usage(3, 0))


def test_who_takes_nothing_is_not_asked_for_everything() -> None:
    """After a few texts that are refused by themselves it is about whoever refuses."""
    choosy = Choosy("abcdefgh", ValidationFailed("no"))
    with pytest.raises(ValidationFailed):
        embed_texts(choosy, list("abcdefgh"), "passage")

    assert choosy.asked == 1 + MAX_REFUSED_TEXTS
    with pytest.raises(ValidationFailed):
        embed_texts(choosy, ["a"], "query")
    absent = Choosy("a", ProviderUnavailable("gone"))
    with pytest.raises(ProviderUnavailable):
        embed_texts(absent, ["a", "b"], "passage")
    assert absent.asked == 1
