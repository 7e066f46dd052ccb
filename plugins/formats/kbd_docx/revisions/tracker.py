"""Operations applied with their changes tracked, by the author that each names.

Operations that follow one another by the same author are recorded together, so that each counts
paragraphs and rows as the ones before made them, just as without tracking. What was deleted comes
back, marked, when an operation does not track or tracks for another author, and at the end.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from lxml import etree

from kbd.office.operations import listed
from kbd_docx.document import W
from kbd_docx.edits.texts import written_date
from kbd_docx.operations.base import Tracking
from kbd_docx.revisions.marks import Marker
from kbd_docx.revisions.recorder import Recorder
from kbd_docx.revisions.snapshot import DocxSnapshot

__all__ = ["DEFAULT_AUTHOR", "Tracker", "record_changes", "tracking_of"]

DEFAULT_AUTHOR = "kbd"
"""Who made changes that name nobody."""

MAX_ID = 2**31 - 2
"""Numbers of tracked changes are whole numbers of 32 bits to programs."""


def tracking_of(operation: msgspec.Struct) -> Tracking | None:
    """Return by whom an operation's changes are tracked, None if they are not.

    Raises:
        ValidationFailed: Its date is none.
    """
    match getattr(operation, "track_changes", None):
        case Tracking(date=str(date)) as tracking:
            return msgspec.structs.replace(tracking, date=written_date(date))
        case Tracking() as tracking:
            return tracking
        case True | "on":
            return Tracking()
        case _:
            return None


class Tracker:
    """Tracker of what operations change.

    Args:
        roots: Gives the roots of all trees of the document that operations change, always the same
            objects.
        changed: Is called with the roots into whose trees tracked changes were written.
        warn: Gets what has no mark of its own.
    """

    def __init__(
        self,
        roots: Callable[[], Iterable[etree._Element]],
        changed: Callable[[Sequence[etree._Element]], None],
        warn: Callable[[str], None],
    ) -> None:
        self._roots, self._changed, self._warn = roots, changed, warn
        self._tracking: Tracking | None = None
        self._snapshot: DocxSnapshot | None = None

    @property
    def is_tracking(self) -> bool:
        """Whether what is done now is going to be recorded."""
        return self._snapshot is not None

    def prepare(self, operation: Any) -> None:
        """Prepare for an operation: record what came before if that was tracked otherwise."""
        tracking = tracking_of(operation)
        if tracking == self._tracking:
            return
        self.finish()
        if tracking is not None:
            self._tracking, self._snapshot = tracking, DocxSnapshot(self._roots())

    def renumber(self, tags: Sequence[str], renamed: Mapping[str | None, str]) -> None:
        """Have elements with other ids now count as left; see `DocxSnapshot.renumber`."""
        if self._snapshot is not None:
            self._snapshot.renumber(tags, renamed)

    def finish(self) -> None:
        """Record what was changed since tracking began, if it did."""
        if self._snapshot is None or self._tracking is None:
            return
        recorded = record_changes(self._snapshot, self._roots(), self._tracking, self._warn)
        self._tracking = self._snapshot = None
        self._changed(recorded)


def record_changes(
    snapshot: DocxSnapshot,
    roots: Iterable[etree._Element],
    tracking: Tracking,
    warn: Callable[[str], None],
) -> list[etree._Element]:
    """Write what differs in a document into it as tracked changes; return the roots that differ.

    Args:
        snapshot: The document as it was.
        roots: The roots of its trees now; those of new parts are new as a whole.
        tracking: Who made the changes, and when.
        warn: Gets what has no mark of its own.
    """
    every = list(roots)
    marker = Marker(tracking.author or DEFAULT_AUTHOR, tracking.date, _first_id(every))
    recorder = Recorder(snapshot, marker)
    recorded = recorder.record()
    known = {root for root, _ in snapshot.roots}
    for root in every:
        if root not in known:
            recorder.record_new(root)
    if marker.joined:
        warn(
            f"A look that changed has a tracked change of {listed(sorted(marker.joined))} "
            "pending; a file notes one, so that both are accepted or rejected together."
        )
    return recorded


def _first_id(roots: Iterable[etree._Element]) -> int:
    """Return a number above those of all marks that a document has."""
    most = 0
    for root in roots:
        for each in root.iter(f"{W}*"):
            text = each.get(f"{W}id", "")
            # Numbers of more digits than any that programs write are damage.
            if text.isdecimal() and len(text) <= len(str(MAX_ID)):
                most = max(most, int(text))
    return most + 1 if most < MAX_ID else 1
