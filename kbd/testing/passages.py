"""What passages promise of their regions: the coordinates that a passage gives read it again."""

from collections import Counter
from collections.abc import Sequence

from kbd.formats import Passage, Readable, Region, Source
from kbd.testing.promises import expect

__all__ = ["check_regions"]


def check_regions(
    handler: Readable, source: Source, passages: Sequence[Passage], *, most_read: int | None = None
) -> None:
    """Check that the regions of a file's passages read them.

    Args:
        handler: The file's format.
        source: A good file.
        passages: All of its passages.
        most_read: How many, evenly spread, are read again; None for all.

    Raises:
        AssertionError: A region does not read its passage.
        KbdError: The file, or a region that a passage names, is refused.
    """
    placed = [passage for passage in passages if passage.region is not None]
    for passage in _some(placed, most_read):
        _check_region(handler, source, passage)


def _check_region(handler: Readable, source: Source, passage: Passage) -> None:
    region = passage.region or Region()
    where = f"{source.name}, {passage.place}"
    foreign = set(region.named()) - set(handler.coordinates)
    expect(f"{where}: a region has the format's coordinates", kept=not foreign)
    missing = Counter(passage.text.split()) - Counter(handler.read(source, region).text.split())
    expect(f"{where}: the region reads the passage", kept=not missing)


def _some(passages: Sequence[Passage], most: int | None) -> Sequence[Passage]:
    """Return as many of them, evenly spread, the first one among them."""
    if most is None or len(passages) <= most:
        return passages
    return [passages[index * len(passages) // most] for index in range(most)]
