"""Record of a hostile file, and what several kinds of them are made of."""

from collections.abc import Callable
from typing import NamedTuple

__all__ = ["LAUGHS", "OK", "OLE", "REFUSED", "Hostile"]

REFUSED, OK = "FILE_READ_FAILED", "ok"
LAUGHS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10 if n else "ha"}">' for n in range(10))
OLE = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600)


class Hostile(NamedTuple):
    """A hostile file and the answer that is due.

    Args:
        number: Its number in the list of threats.
        what: What it is.
        name: What it is called.
        build: Makes its bytes.
        verdict: "ok", or the code that its map is refused with.
        word: What is in its text, or in the message.
        flag: What its map names it by, or its text labels it as; "" where nothing is due.
    """

    number: str
    what: str
    name: str
    build: Callable[[], bytes]
    verdict: str = REFUSED
    word: str = ""
    flag: str = ""
