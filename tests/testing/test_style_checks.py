"""The contract checks find Styled formats that break it."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Applied, AssetPick, FormatHandler, Passage, ReadAs, Reading, Region, Source
from kbd.testing.formats import check_format
from tools.small_formats import StyledBook, styled

SAMPLES: dict[str, bytes | Path] = {"a.book": styled(A="bold", B="//example.org").encode()}


class GoodBook(StyledBook):
    """Keeps what the small format for tools leaves out: damage and strange coordinates."""

    def info(self, source: Source) -> dict[str, Any]:
        """Look at the content."""
        self._check(source)
        return {}

    def map(self, source: Source) -> dict[str, Any]:
        """Return the sheets."""
        self._check(source)
        return super().map(source)

    def read(self, source: Source, region: Region) -> Reading:
        """Return everything."""
        self._check(source)
        if set(region.named()) - set(self.coordinates):
            raise ValidationFailed("not a coordinate of books")
        return super().read(source, region)

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield everything."""
        self._check(source)
        return super().passages(source)

    def read_table(self, source: Source, sheet: str | None, read_as: ReadAs, target: Path) -> Any:
        """Read a sheet."""
        self._check(source)
        return super().read_table(source, sheet, read_as, target)

    def get_styles(self, source: Source, sheet: str | None) -> dict[str, Any]:
        """Return the styles."""
        self._check(source)
        return super().get_styles(source, sheet)

    def _check(self, source: Source) -> None:
        try:
            sheets = json.loads(source.path.read_text())
            list(sheets.items())
            assert all(set(sheet) >= {"columns", "rows"} for sheet in sheets.values())
        except (ValueError, AttributeError, TypeError, AssertionError):
            raise FileReadFailed("not a book") from None


class Listless(GoodBook):
    """Lists no assets."""

    def get_styles(self, source: Source, sheet: str | None) -> dict[str, Any]:
        """Leave them out."""
        return {"styles": super().get_styles(source, sheet)["styles"]}


class Fickle(GoodBook):
    """Tells something else each time."""

    count = itertools.count()

    def get_styles(self, source: Source, sheet: str | None) -> dict[str, Any]:
        """Count."""
        return {**super().get_styles(source, sheet), "count": next(self.count)}


class Nameless(GoodBook):
    """Lists an asset without a kind."""

    def get_styles(self, source: Source, sheet: str | None) -> dict[str, Any]:
        """Add it."""
        found = super().get_styles(source, sheet)
        return {**found, "assets": [*found["assets"], {"asset_id": "A", "kind": "style"}]}


class Sheetless(GoodBook):
    """Does not mind which sheet is asked for."""

    def get_styles(self, source: Source, sheet: str | None) -> dict[str, Any]:
        """Tell of all."""
        return super().get_styles(source, None)


class Careless(GoodBook):
    """Copies what is not there."""

    def copy_assets(
        self, source: Source, into: Source | None, picks: tuple[AssetPick, ...], target: Path
    ) -> Applied:
        """Write an empty book."""
        target.write_text("{}")
        return Applied(len(picks), tuple(pick.asset_id for pick in picks))


class Littering(GoodBook):
    """Leaves a file behind when it refuses."""

    def copy_assets(
        self, source: Source, into: Source | None, picks: tuple[AssetPick, ...], target: Path
    ) -> Applied:
        """Write first."""
        target.write_text("{}")
        return super().copy_assets(source, into, picks, target)


class Mute(GoodBook):
    """Refuses without a reason."""

    def copy_assets(
        self, source: Source, into: Source | None, picks: tuple[AssetPick, ...], target: Path
    ) -> Applied:
        """Refuse."""
        raise ValidationFailed("")


class Careful(GoodBook):
    """Refuses all, in words."""

    def copy_assets(
        self, source: Source, into: Source | None, picks: tuple[AssetPick, ...], target: Path
    ) -> Applied:
        """Refuse."""
        raise ValidationFailed("it has a link to another file")


class Destroying(GoodBook):
    """Writes into its source."""

    def copy_assets(
        self, source: Source, into: Source | None, picks: tuple[AssetPick, ...], target: Path
    ) -> Applied:
        """Copy, and add a blank."""
        done = super().copy_assets(source, into, picks, target)
        source.path.write_text(source.path.read_text() + " ")
        return done


@pytest.mark.parametrize("handler", [GoodBook(), Careful()])
def test_what_keeps_its_promises_passes(tmp_path: Path, handler: FormatHandler) -> None:
    """Assets that can be copied, and those that are refused with a reason."""
    check_format(handler, SAMPLES, tmp_path)


@pytest.mark.parametrize(
    ("handler", "promise"),
    [
        (Listless(), "lists assets"),
        (Fickle(), "the same each time"),
        (Nameless(), "kind:name"),
        (Sheetless(), "a sheet that is not there is refused"),
        (Careless(), "an asset that is not there is refused"),
        (Littering(), "leaves no file"),
        (Mute(), "with a reason"),
        (Destroying(), "source is left alone"),
    ],
)
def test_a_broken_promise_is_named(tmp_path: Path, handler: FormatHandler, promise: str) -> None:
    """Each kind of breach is found and said."""
    with pytest.raises(AssertionError, match=promise):
        check_format(handler, SAMPLES, tmp_path)
