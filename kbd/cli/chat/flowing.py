"""Writes an answer in a terminal as it comes, word by word, broken between words."""

import re
from collections.abc import Callable
from typing import TextIO

from kbd.cli.terminal import cell_width, clean, graphemes

__all__ = ["Flow"]

MOST_COLUMNS = 100
"""Longer lines are tiring to read, however wide the terminal is."""

HELD_CHARACTERS = 64
"""How much of a control sequence that has not ended is waited for."""

_WORDS = re.compile(r"\n|[ \t]+|[^ \t\n]+")
_MARK = re.compile(r"[-*•+]|\d{1,3}[.)]")


# By hand: rich.live draws what comes anew with each word, so what has left the screen is lost; this
# writes each word once, and what a person selects or scrolls back to is the answer.
class Flow:
    """One answer on its way to a terminal.

    Lines are broken at spaces; those of a list go on below their text. What stands between fences,
    and rows of tables, is left as it is: a terminal breaks them where it must.

    Attributes:
        text: What has been written, as it came.

    Args:
        out: The terminal.
        columns: Tells how wide it is now.
    """

    def __init__(self, out: TextIO, columns: Callable[[], int]) -> None:
        self.text = ""
        self._out, self._columns = out, columns
        self._rest = ""
        self._word = ""
        self._at, self._indent, self._goes_on = 0, 0, False
        self._is_fenced = self._is_plain = False

    def write(self, delta: str) -> None:
        """Write more of it; the last word waits until it is whole."""
        self.text += delta
        self._rest += delta
        held = self._rest.rfind("\x1b", max(0, len(self._rest) - HELD_CHARACTERS))
        ready = self._rest if held < 0 else self._rest[:held]
        self._rest = self._rest[len(ready) :]
        self._take(clean(ready))
        self._out.flush()

    def end(self, whole: str) -> None:
        """End the answer, which is this as a whole: what is missing of it is written."""
        whole = whole.strip()
        if not whole.startswith(self.text.strip()):
            self.again()
        self.write(whole[len(self.text.strip()) :])
        self.close()

    def again(self) -> None:
        """End a part that will come once more, from its beginning."""
        if self.text:
            self.close()
            self._out.write("…\n")
            self.text = ""

    def close(self) -> None:
        """Write what waits, and end the line."""
        self._take(clean(self._rest))
        self._rest = ""
        self._put_word()
        if self._at:
            self._newline()
        self._is_fenced = False
        self._out.flush()

    def _take(self, text: str) -> None:
        for piece in _WORDS.findall(text):
            if piece == "\n":
                self._put_word()
                self._newline()
            elif piece[0] in " \t":
                self._put_word()
                self._space(piece)
            else:
                self._add(piece)

    def _add(self, piece: str) -> None:
        """Add to the word; a line may be broken before and after each wide sign."""
        if piece.isascii():
            self._word += piece
            return
        for sign, columns in graphemes(piece):
            if columns == 2:
                self._put_word()
                self._word = sign
                self._put_word()
            else:
                self._word += sign

    def _space(self, piece: str) -> None:
        if not self._goes_on:
            self._indent += len(piece.expandtabs(4))
        if self._at:
            self._at += len(piece)
            if self._is_plain or self._at < self._width:
                self._out.write(piece)
                return
            self._break()
        else:
            self._out.write(piece)
            self._at += len(piece)

    def _put_word(self) -> None:
        word, self._word = self._word, ""
        if not word:
            return
        wide = cell_width(word)
        if not self._goes_on:
            self._begin_line(word, wide)
        elif not self._is_plain and self._at + wide > self._width and self._at > self._indent:
            self._break()
        self._out.write(word)
        self._at += wide
        self._goes_on = True

    def _begin_line(self, word: str, wide: int) -> None:
        is_fence = word.startswith("```")
        self._is_plain = self._is_fenced or is_fence or word.startswith("|")
        if is_fence:
            self._is_fenced = not self._is_fenced
        if _MARK.fullmatch(word):
            self._indent += wide + 1
        self._indent = min(self._indent, self._width // 2)

    def _break(self) -> None:
        self._out.write("\n" + " " * self._indent)
        self._at = self._indent

    def _newline(self) -> None:
        self._out.write("\n")
        self._at, self._indent, self._goes_on = 0, 0, False

    @property
    def _width(self) -> int:
        return max(min(self._columns(), MOST_COLUMNS), 8)
