"""Operations carried over to another version of a deck, in which slides may stand elsewhere.

An operation is about a slide, or about the gap between two. A slide is certain by the number that
a program gave it for good, or by its contents; a gap if both slides are, and nothing came between
them: what two put into one gap has no order that anybody gave it.
"""

from collections import Counter

import msgspec

from kbd.formats import Relocation, Source
from kbd.formats.anchors import UncertainError
from kbd_pptx.comparison.compare import matched_decks
from kbd_pptx.comparison.matches import SlideMatches
from kbd_pptx.comparison.places import slide_place
from kbd_pptx.comparison.version import DeckVersion
from kbd_pptx.operations import AddSlide, DuplicateSlide, FillDeckTemplate, MoveSlide, ReplaceText

__all__ = ["relocate"]


def relocate(operations: tuple[msgspec.Struct, ...], before: Source, after: Source) -> Relocation:
    """Carry operations over; see `Relocatable.relocate`.

    Raises:
        FileReadFailed: A version cannot be read.
    """
    with matched_decks(before, after) as (old, new, matches):
        carrier = _Carrier(old, new, matches)
        if not carrier.is_shifted:
            return Relocation(tuple(map(msgspec.to_builtins, operations)))
        try:
            carried = [carrier.carried(operation) for operation in operations]
        except UncertainError as doubt:
            return Relocation(is_shifted=True, reason=doubt.reason, place=doubt.place)
        return Relocation(tuple(map(msgspec.to_builtins, carried)), is_shifted=True)


class _Carrier:
    """Carries operations over from one version to the other.

    Attributes:
        is_shifted: Whether any slide stands elsewhere.
    """

    def __init__(self, before: DeckVersion, after: DeckVersion, matches: SlideMatches) -> None:
        self._counts = before.count, after.count
        pairs = matches.slides.after
        self.is_shifted = before.count != after.count or any(i != j for i, j in pairs.items())
        ids = (
            [slide.slide_id for slide in before.deck.slides],
            [slide.slide_id for slide in after.deck.slides],
        )
        contents = (
            Counter(before.bytes_key(index) for index in range(before.count)),
            Counter(after.bytes_key(index) for index in range(after.count)),
        )
        numbered = Counter(ids[0]), Counter(ids[1])

        def is_certain(i: int, j: int) -> bool:
            number, key = ids[0][i], before.bytes_key(i)
            has_number = number == ids[1][j] and numbered[0][number] == numbered[1][number] == 1
            has_contents = key == after.bytes_key(j) and contents[0][key] == contents[1][key] == 1
            return bool(number) and (has_number or has_contents)

        self._places = {i: j for i, j in pairs.items() if is_certain(i, j)}

    def carried(self, operation: msgspec.Struct) -> msgspec.Struct:
        """Return an operation as it is there; raises UncertainError."""
        match operation:
            case AddSlide(index=None):
                self._gap(self._counts[0])
                return operation
            case AddSlide(index=int(index)):
                return msgspec.structs.replace(operation, index=self._gap(index))
            case ReplaceText(index=None) | FillDeckTemplate():
                return operation
            case MoveSlide(index=index):
                msg = (
                    "where the slide should go is not certain, for other slides came, went or moved"
                )
                raise UncertainError(msg, slide_place(index))
            case DuplicateSlide(index=index, to=int()):
                msg = "where the copy should stand is not certain, for other slides came or went"
                raise UncertainError(msg, slide_place(index))
            case _ if isinstance(place := getattr(operation, "index", None), int):
                # All others are about one slide, and name what is on it by id or name.
                return msgspec.structs.replace(operation, index=self._slide(place))
            case _:
                raise UncertainError("this operation cannot be carried over to shifted slides")

    def _slide(self, index: int) -> int:
        """Return the index that a slide has there."""
        found = self._places.get(index)
        if found is None:
            msg = f"slide {index + 1} is not there any more, or it is not certain where"
            raise UncertainError(msg, slide_place(index))
        return found

    def _gap(self, index: int) -> int:
        """Return where a gap is, by the slide behind it; nothing may have come into it."""
        above = -1 if index == 0 else self._slide(index - 1)
        below = self._counts[1] if index >= self._counts[0] else self._slide(index)
        if below != above + 1:
            place = slide_place(max(0, min(index, self._counts[0] - 1)))
            raise UncertainError("slides were inserted, removed or moved right there", place)
        return below
