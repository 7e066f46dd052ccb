"""What a model says, shown as it comes: what stands before its first block; the rest at the end.

A block is never shown, nor what may become one. Where it ends is sure only when all is there.
"""

from kbd.providers import Emit
from kbd.toolcall import shown_length

__all__ = ["Hearing"]


class Hearing:
    """Takes the text of a reply in pieces and passes on what is no block.

    Args:
        emit: Takes what may be shown.
    """

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._waiting = ""
        self._shown = 0
        self._is_over = False

    def __call__(self, piece: str) -> None:
        """Take a piece."""
        if self._is_over:
            return
        waiting = self._waiting + piece
        length = shown_length(waiting)
        self._show(waiting[:length])
        self._waiting = waiting[length:]
        # What waits longer than any beginning of a tag is one.
        self._is_over = len(self._waiting) > MOST_WAITING

    def finish(self, text: str) -> None:
        """Pass on what is left of the reply's text: no more comes."""
        self._show(text[self._shown :])

    def _show(self, text: str) -> None:
        if text:
            self._shown += len(text)
            self._emit(text)


MOST_WAITING = 64
"""More characters than the beginning of a tag can have."""
