"""A theme copied into another deck, where a master takes it in place of its own."""

from kbd.errors import ValidationFailed
from kbd_pptx.assets.asset_refs import DeckPlace
from kbd_pptx.assets.deckedit import DeckEdit
from kbd_pptx.assets.part_copier import DeckPartCopier
from kbd_pptx.assets.sourcedeck import SourceDeck, find_master

__all__ = ["copy_theme"]


def copy_theme(
    source: SourceDeck, edit: DeckEdit, copier: DeckPartCopier, name: str, target: DeckPlace | None
) -> str:
    """Give a master of the target a theme of the source, and return what changed.

    Colours, fonts and effects change on all that takes them from the theme. The master's own map
    of colours and all else of it stay.

    Args:
        source: The deck that has it.
        edit: The deck that gets it.
        copier: What carries parts.
        name: The theme's, as `get_styles` lists it.
        target: The master that takes it; None for the first.

    Raises:
        ValidationFailed: There is no such theme or master.
    """
    theirs = source.master(name)
    target = target or DeckPlace("master", 0)
    if target.kind != "master" or target.name:
        raise ValidationFailed(f"A theme goes to a master, not to {target}; write master:0.")
    master = find_master(edit.deck(), target.index, "target")
    rewriting = edit.rewriting
    both = (edit.main, master.part)
    users = [each for each in both if edit.related(each, "theme") == master.theme]
    part = copier.copy(theirs.theme, {})
    for user in users if master.theme else (master.part,):
        for relation in edit.relations(user).values():
            if relation.kind == "theme":
                rewriting.unrelate(user, relation.id)
                rewriting.relate(user, relation.type, part, relation_id=relation.id)
    if not edit.related(master.part, "theme"):
        rewriting.relate(master.part, "theme", part)
    _drop_unused(edit, master.theme)
    edit.forget(master.part)
    return f"{target}: theme {name}"


def _drop_unused(edit: DeckEdit, theme: str) -> None:
    """Take a theme away that nothing names any more."""
    if not theme:
        return
    folded = theme.casefold()
    for part in edit.rewriting.parts():
        if part.endswith(".xml") and not part.startswith("["):
            for relation in edit.relations(part).values():
                if not relation.external and relation.target.casefold() == folded:
                    return
    edit.rewriting.drop(theme)
