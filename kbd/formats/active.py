"""Active content of a file, collected by a format's handler: what is new, as bounded texts.

Two pieces of active content are the same if they are of one kind and hold the same; where they
stand does not count, so that content which only moved is no news.
"""

import hashlib
from collections.abc import Iterable

__all__ = ["MAX_KEPT", "MAX_TEXTS", "ActiveContent"]

MAX_TEXTS = 20
"""Texts that one answer has; what is more is counted in the last one."""

MAX_KEPT = 100_000
"""Pieces that are compared; a file with more of them has something new, whatever it was before."""

_SHOWN_CHARACTERS = 160


class ActiveContent:
    """Collection of the active content of one file, in the order in which it was found."""

    def __init__(self) -> None:
        self._found: dict[bytes, str] = {}
        self._is_cut = False

    def add(self, kind: str, content: str, place: str = "", shown: str = "") -> None:
        """Add a piece.

        Args:
            kind: What it is ("script", "remote image").
            content: What it holds, whole: by this it is compared.
            place: Where it stands, for people ("Sheet1!B2").
            shown: What is shown of it, if that is not its content.
        """
        key = hashlib.sha256(f"{kind}\0{content}".encode("utf-8", "replace")).digest()
        if key in self._found:
            return
        if len(self._found) == MAX_KEPT:
            self._is_cut = True
            return
        shown = " ".join((shown or content).split())
        if len(shown) > _SHOWN_CHARACTERS:
            shown = f"{shown[: _SHOWN_CHARACTERS - 1]}…"
        text = f"{kind}: {shown}" if shown else kind
        self._found[key] = f"{place}: {text}" if place else text

    def new_texts(self, known: "Iterable[ActiveContent]" = ()) -> tuple[str, ...]:
        """Return the texts of what none of some others has, at most `MAX_TEXTS` of them."""
        if not self._found:
            return ()  # The others are not even collected.
        left = dict(self._found)
        for other in known:
            for key in other._found:  # noqa: SLF001 - of the same class
                left.pop(key, None)
        texts = list(dict.fromkeys(left.values()))
        if self._is_cut:
            # Of what was not kept nobody can say that another one has it, too.
            texts.insert(0, f"more than {MAX_KEPT:,} pieces")
        if len(texts) <= MAX_TEXTS:
            return tuple(texts)
        return (*texts[: MAX_TEXTS - 1], f"and {len(texts) - MAX_TEXTS + 1} more")
