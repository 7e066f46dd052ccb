"""Text deltas of a model's answer: announced as they come, as fast as a client can take them.

A model writes some hundred pieces a second, and each is announced at once. A server that sends a
hundred thousand would fill the queues of clients that do nothing wrong, and they would be dropped;
so beyond a rate pieces are announced together, and what is longer than a text that is recorded is
not announced.
"""

from collections.abc import Callable

import anyio

from kbd.core.runtime.clock import Clock

__all__ = ["MAX_TEXT_CHARS", "TextDeltas"]

MAX_TEXT_CHARS = 1_000_000
"""As much of a reply's text is recorded, and announced."""

CHARACTERS_PER_S = 1_000_000.0
"""A tenth of what a client takes that shows nothing (2 cores, 2026)."""

BURST_CHARACTERS = 128_000
"""As much may come at once: a quarter of a client's queue, if each character takes two bytes."""

NOTICE_CHARACTERS = 1_000
"""What a notice costs beside its text: a thousand a second are taken, and not much more."""

PART_CHARACTERS = 16_000
"""The longest notice."""

PART_S = PART_CHARACTERS / CHARACTERS_PER_S
"""Between two notices of what waited."""


class TextDeltas:
    """Text deltas of one attempt.

    Args:
        announce: Tells clients of a piece.
        clock: Says how fast they come.
    """

    def __init__(self, announce: Callable[[str], None], clock: Clock) -> None:
        self._announce, self._clock = announce, clock
        # A list, for a text that grows by a character a time is copied each time.
        self._waiting: list[str] = []
        self._waiting_characters = self._accepted = 0
        self._allowance, self._counted_s = float(BURST_CHARACTERS), clock.monotonic_s()

    def append(self, piece: str) -> None:
        """Take a piece: announce it now or with later ones; returns at once."""
        # Cut here, where it comes: what a hostile server says beyond is not even kept.
        piece = piece[: MAX_TEXT_CHARS - self._accepted]
        if not piece:
            return
        self._accepted += len(piece)
        self._waiting.append(piece)
        self._waiting_characters += len(piece)
        now_s = self._clock.monotonic_s()
        earned = (now_s - self._counted_s) * CHARACTERS_PER_S
        self._allowance = min(float(BURST_CHARACTERS), self._allowance + earned)
        self._counted_s = now_s
        while self._waiting_characters and self._allowance >= self._cost():
            self._allowance -= self._cost()
            self._announce_part()

    async def finish(self) -> None:
        """Announce what waits, at the pace that clients can take."""
        while self._waiting_characters:
            self._announce_part()
            if self._waiting_characters:
                await anyio.sleep(PART_S)

    def _cost(self) -> int:
        return NOTICE_CHARACTERS + min(self._waiting_characters, PART_CHARACTERS)

    def _announce_part(self) -> None:
        text = "".join(self._waiting)
        part, rest = text[:PART_CHARACTERS], text[PART_CHARACTERS:]
        self._waiting, self._waiting_characters = [rest] if rest else [], len(rest)
        self._announce(part)
