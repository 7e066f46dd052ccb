"""Debouncing of files: one is whole only after it stayed the same for the rule's quiet time.

Pure: the time is given, files are looked at by others. A file that somebody holds open, or that
cannot be taken now, is put off; until it changes again nobody else waits for it.
"""

import heapq

import msgspec

from kbd.core.watch.tree import FolderEntry

__all__ = ["SettlingFiles"]


class _Candidate(msgspec.Struct):
    """A file that may become whole.

    Args:
        found: What it looked like last.
        due_s: When it is to be looked at again.
        tries: How often it was put off since it changed.
    """

    found: FolderEntry
    due_s: float
    tries: int = 0


class SettlingFiles:
    """Files of one watch that are not whole yet, by their raw path.

    Args:
        quiet_s: So long a file must stay the same.
    """

    def __init__(self, quiet_s: float) -> None:
        self._quiet_s = quiet_s
        self._candidates: dict[str, _Candidate] = {}
        # What was true when it was entered: an entry whose time is not its candidate's is void.
        self._queue: list[tuple[float, str]] = []
        # When those are due that changed lately and were not put off, the last changed one last.
        self._lately: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._candidates)

    def see(self, found: FolderEntry, now_s: float) -> None:
        """Note what a file looks like now; its quiet time begins anew if that changed."""
        known = self._candidates.get(found.raw)
        if known is None or known.found.signature != found.signature:
            self._enter(_Candidate(found, now_s + self._quiet_s))
            self._lately[found.raw] = now_s + self._quiet_s

    def put_off(self, raw: str, due_s: float) -> int:
        """Have a file looked at again later though it did not change.

        Returns:
            How often that was done since it changed.
        """
        known = self._candidates.get(raw)
        if known is None:
            return 0
        self._enter(_Candidate(known.found, due_s, known.tries + 1))
        return known.tries + 1

    def forget(self, raw: str) -> None:
        """Let go of a file: it is taken, or gone."""
        self._candidates.pop(raw, None)
        self._lately.pop(raw, None)

    def clear(self) -> None:
        """Let go of all files."""
        self._candidates.clear()
        self._queue.clear()
        self._lately.clear()

    def due(self, now_s: float, most: int) -> list[FolderEntry]:
        """Return files whose time has come, at most so many, the longest due first.

        Each stays, and is returned again, until it is forgotten, put off or seen changed.
        """
        taken: list[tuple[float, str]] = []
        while self._queue and self._queue[0][0] <= now_s and len(taken) < most:
            entry = heapq.heappop(self._queue)
            if self._is_valid(entry):
                taken.append(entry)
        for entry in taken:
            heapq.heappush(self._queue, entry)
        return [self._candidates[raw].found for _, raw in taken]

    @property
    def next_s(self) -> float | None:
        """When the next file is due; None if there is none."""
        while self._queue and not self._is_valid(self._queue[0]):
            heapq.heappop(self._queue)
        return self._queue[0][0] if self._queue else None

    @property
    def last_s(self) -> float | None:
        """When the last file that changed lately is due, put-off ones apart; None if none did."""
        return next(reversed(self._lately.values()), None)

    def _enter(self, candidate: _Candidate) -> None:
        raw = candidate.found.raw
        self._candidates[raw] = candidate
        self._lately.pop(raw, None)
        heapq.heappush(self._queue, (candidate.due_s, raw))

    def _is_valid(self, entry: tuple[float, str]) -> bool:
        known = self._candidates.get(entry[1])
        return known is not None and known.due_s == entry[0]
