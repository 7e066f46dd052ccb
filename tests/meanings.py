"""Vectors of texts by their words alone, the same on every machine; words can be told to mean one.

vector_of("An automobile", {"automobile": "car"})    lies where vector_of("A car") does, nearly
"""

import hashlib
import math
import re
from collections.abc import Mapping

__all__ = ["SIZE", "vector_of"]

SIZE = 128
"""Numbers of a vector: few words fall together by chance."""

_PLACES = 4


def vector_of(text: str, meanings: Mapping[str, str]) -> list[float]:
    """Return the vector of a text, of length 1: what of its words, in small letters, it holds.

    Args:
        text: The text.
        meanings: Which word stands for which other; one that maps to "" says nothing.
    """
    found = [0.0] * SIZE
    found[0] = 0.01  # A text of no words points somewhere, too.
    for word in re.findall(r"\w+", text.casefold()):
        meant = meanings.get(word, word)
        digest = hashlib.sha256(meant.encode()).digest() if meant else b""
        for place in digest[:_PLACES]:
            found[place % SIZE] += 1.0 if place < SIZE else -1.0
    length = math.hypot(*found)
    return [number / length for number in found]
