"""Copying of assets into another deck: layouts, text styles, themes, pictures.

A theme copied into another deck, where a master takes it in place of its own.
"""

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import assert_never

from kbd.errors import ValidationFailed
from kbd.formats import Applied, AssetPick, Source
from kbd.office.reach import external_targets, reach_after
from kbd.opc.rewriter import Rewriting
from kbd_pptx.assets.asset_refs import DeckPlace, PptxAssetRef, SourceDeck, find_master, parse_ref
from kbd_pptx.assets.copy_images import ImageCopier
from kbd_pptx.assets.copy_layouts import LayoutCopier
from kbd_pptx.assets.copy_text import TextCopier
from kbd_pptx.assets.target import DeckPartCopier, TargetDeck, new_deck
from kbd_pptx.presentation import SUFFIXES, P, R, open_presentation

__all__ = ["copy_assets", "copy_theme"]


def copy_theme(
    source: SourceDeck,
    edit: TargetDeck,
    copier: DeckPartCopier,
    name: str,
    target: DeckPlace | None,
) -> str:
    """Copy a theme of the source to a master of the target, and return what changed.

    Colors, fonts and effects change on all that takes them from the theme. The master's own map
    of colors and all else of it stay.

    Args:
        source: The deck that has it.
        edit: The deck that gets it.
        copier: Copies parts.
        name: The theme's, as `get_styles` lists it.
        target: The master that takes it; None for the first.

    Raises:
        ValidationFailed: There is no such theme or master.
    """
    theirs = source.master(name)
    target = target or DeckPlace("master", 0)
    if target.kind != "master" or target.name:
        raise ValidationFailed(f"a theme goes to a master, not to {target}; write master:0")
    master = find_master(edit.deck(), target.index, "target")
    rewriting = edit.rewriting
    # The presentation has a relation of its own to the theme of its first master.
    both = (edit.main, master.part)
    users = [each for each in both if edit.related(each, "theme") == master.theme]
    # An empty mapping has it copied anew: two masters do not share a theme here.
    part = copier.copy(theirs.theme, {})
    for user in users if master.theme else (master.part,):
        for relation in edit.relations(user).values():
            if relation.kind == "theme":
                rewriting.unrelate(user, relation.id)
                rewriting.relate(user, relation.type, part, relation_id=relation.id)
    if not edit.related(master.part, "theme"):
        rewriting.relate(master.part, "theme", part)
    _drop_unused(edit, master.theme)
    edit.invalidate(master.part)
    return f"{target}: theme {name}"


def _drop_unused(edit: TargetDeck, theme: str) -> None:
    """Drop a theme that nothing references any more."""
    if not theme:
        return
    folded = theme.casefold()
    for part in edit.rewriting.parts():
        # Media lead nowhere, and the table of types is no part.
        if part.endswith(".xml") and not part.startswith("["):
            for relation in edit.relations(part).values():
                if not relation.external and relation.target.casefold() == folded:
                    return
    edit.rewriting.drop(theme)


def copy_assets(
    source: Source, into: Source | None, picks: tuple[AssetPick, ...], target: Path
) -> Applied:
    """Write the deck that results from copying assets, all or nothing.

    A new deck that gets layouts has just these, with their master, and slides of their size.

    Args:
        source: The deck that has them.
        into: The deck that gets them, None for a new one.
        picks: What to copy.
        target: A path that does not exist yet.

    Raises:
        ValidationFailed: There is no such asset or place, or it cannot be copied without a loss.
        FileReadFailed: A file cannot be read.
    """
    wanted = [parse_ref(pick) for pick in picks]
    with ExitStack() as stack:
        package, identity = stack.enter_context(open_presentation(source))
        having = SourceDeck(package, identity.part)
        if into is None:
            edit = new_deck(target.name)
        else:
            getting, kind = stack.enter_context(open_presentation(into))
            edit = TargetDeck(Rewriting(getting), kind.part)
            SUFFIXES.fit(edit.rewriting, kind.part, target.name)
        changed = _Copying(having, edit, DeckPartCopier(package, edit)).copy(wanted)
        edit.rewriting.save(target)
        targets = partial(external_targets, edit.rewriting)
        reach = reach_after(edit.warnings.external, into, targets)
    return Applied(len(changed), changed, edit.warnings.texts, *reach)


def _rank(pick: PptxAssetRef) -> int:
    """Return the turn of an asset in a new deck, 0 for the first."""
    # A slide that a picture needs is to be one of the layouts that come, and the master that a
    # layout names may come with one that names none.
    if pick.kind == "layout":
        return 0 if pick.target is None else 1
    return 2


class _Copying:
    """Copies the assets that one call names."""

    def __init__(self, source: SourceDeck, edit: TargetDeck, copier: DeckPartCopier) -> None:
        self._source, self._edit, self._copier = source, edit, copier
        self._layouts = LayoutCopier(source, edit, copier)
        self._texts = TextCopier(source, edit, copier)
        self._images = ImageCopier(source, edit, copier)

    def copy(self, picks: list[PptxAssetRef]) -> tuple[str, ...]:
        """Copy assets and return what each changed, in their order."""
        changed: dict[int, str] = {}
        places = list(range(len(picks)))
        if self._edit.is_new:
            places = sorted(places, key=lambda place: _rank(picks[place]))
            if any(each.kind == "layout" and each.target is None for each in picks):
                self._begin_without_layouts()
        for place in places:
            changed[place] = self._copy_one(picks[place])
        return tuple(changed[place] for place in range(len(picks)))

    def _copy_one(self, pick: PptxAssetRef) -> str:
        self._copier.begin_asset(pick.asset_id)
        match pick.kind:
            case "layout":
                return self._layouts.copy(pick.name, pick.target)
            case "text_style":
                return self._texts.copy(pick)
            case "theme":
                return copy_theme(self._source, self._edit, self._copier, pick.name, pick.target)
            case "image":
                return self._images.copy(pick)
            case other:
                assert_never(other)

    def _begin_without_layouts(self) -> None:
        """Remove the master and layouts of a new deck, and set the source's slide size."""
        # Read before the list of masters is emptied, by which the parts to drop are found.
        edit, deck = self._edit, self._edit.deck()
        root = edit.parse(edit.main)
        masters = root.find(f"{P}sldMasterIdLst")
        if masters is not None:
            for entry in masters:
                edit.rewriting.unrelate(edit.main, entry.get(f"{R}id", ""))
            del masters[:]
        parts = self._source.parts
        size, theirs = root.find(f"{P}sldSz"), parts.root(parts.main).find(f"{P}sldSz")
        if size is not None and theirs is not None:
            size.attrib.clear()
            size.attrib.update(theirs.attrib)
        edit.put(edit.main, root)
        for relation in edit.relations(edit.main).values():
            if relation.kind == "theme":
                edit.rewriting.unrelate(edit.main, relation.id)
        for master in deck.masters:
            for part in (*(layout.part for layout in master.layouts), master.part, master.theme):
                edit.rewriting.drop(part)
                edit.invalidate(part)
