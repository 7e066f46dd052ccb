"""What a Styled format promises, checked on one good file; part of `formats.check_format`."""

from pathlib import Path
from typing import Any

from kbd.errors import ValidationFailed
from kbd.formats import AssetPick, Source, Styled
from kbd.testing.promises import check_plain, expect

__all__ = ["check_styles"]

_MOST_ASSETS = 25
"""Of those that a file lists; each is copied three times."""


def check_styles(handler: Styled, source: Source, folder: Path) -> None:
    """Check what `get_styles` tells, and that what it lists can be copied or is refused in words.

    Args:
        handler: The handler.
        source: A good file.
        folder: Where to write.

    Raises:
        AssertionError: A promise is broken.
    """
    name = source.name
    styles = check_plain(f"{name}: get_styles", lambda: handler.get_styles(source, None))
    assets = styles.get("assets")
    expect(f"{name}: get_styles lists assets", kept=isinstance(assets, list))
    ids = [_asset_id(name, asset) for asset in styles["assets"]]
    expect(f"{name}: no asset is listed twice", kept=len(set(ids)) == len(ids))
    _check_refused(f"{name}: a sheet that is not there", handler, source)
    for count, asset_id in enumerate(ids[:_MOST_ASSETS]):
        _check_asset(handler, source, asset_id, folder / f"asset{count}")
    target = folder / "no-such-asset"
    told = _copied(handler, source, None, ("nothing:of that name", *ids[:1]), target)
    expect(f"{name}: an asset that is not there is refused", kept=told is not None)
    expect(f"{name}: a refused copy leaves no file", kept=not target.exists())


def _asset_id(name: str, asset: Any) -> str:
    """Return an asset's id, as `get_styles` lists it."""
    fine = isinstance(asset, dict) and isinstance(asset.get("asset_id"), str)
    expect(f"{name}: every asset has an asset_id", kept=fine)
    found: str = asset["asset_id"]
    kind, colon, rest = found.partition(":")
    expect(f'{name}: asset {found!r} is "kind:name"', kept=bool(kind and colon and rest))
    expect(f"{name}: asset {found!r} tells its kind", kept=asset.get("kind") == kind)
    return found


def _check_refused(what: str, handler: Styled, source: Source) -> None:
    try:
        handler.get_styles(source, "no such sheet")
    except ValidationFailed:
        return
    raise AssertionError(f"{what} is refused")


def _check_asset(handler: Styled, source: Source, asset_id: str, target: Path) -> None:
    """Check that an asset goes into a new file and into an existing one, or is refused."""
    what = f"{source.name}: asset {asset_id!r}"
    before = source.path.read_bytes()
    again, into = target.with_name(f"{target.name}-again"), target.with_name(f"{target.name}-into")
    told = _copied(handler, source, None, (asset_id,), target)
    if told is not None:
        expect(f"{what} is refused with a reason", kept=bool(told))
        expect(f"{what}, refused, leaves no file", kept=not target.exists())
    else:
        _copied(handler, source, None, (asset_id,), again)
        expect(f"{what} gives the same bytes each time",
               kept=target.read_bytes() == again.read_bytes())  # fmt: skip
        made = handler.get_styles(Source(target, source.name), None)
        expect(f"{what} gives a file that can be looked at", kept="assets" in made)
    told = _copied(handler, source, source, (asset_id,), into)
    expect(f"{what} goes into a file that is there, or is refused with a reason",
           kept=into.exists() if told is None else bool(told) and not into.exists())  # fmt: skip
    expect(f"{what}: its source is left alone", kept=source.path.read_bytes() == before)


def _copied(
    handler: Styled, source: Source, into: Source | None, ids: tuple[str, ...], target: Path
) -> str | None:
    """Copy assets to a target; return why that was refused, or None."""
    picks = tuple(AssetPick(asset_id) for asset_id in ids)
    try:
        applied = handler.copy_assets(source, into, picks, target)
    except ValidationFailed as refused:
        return refused.message
    expect(f"{source.name}: all assets are copied", kept=applied.applied == len(picks))
    expect(f"{source.name}: each copy is told", kept=len(applied.changed) == len(picks))
    return None
