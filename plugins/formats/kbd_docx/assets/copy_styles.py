"""Styles taken along, so that they look in the target as they do in the source.

What is picked is added, or takes the place of the target's style of that name, whose id it gets: so
what uses that style follows. A style's bases, its other half and the one that follows it come along
where the target has none of their names; where it has, its own stay as they are, and what they or
the document's defaults make different is said in the copied style itself.
"""

from collections.abc import Iterable
from copy import deepcopy

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.office.operations import listed
from kbd_docx.assets.copy_lists import ListCopier
from kbd_docx.assets.target import Target
from kbd_docx.blocks import W
from kbd_docx.edits.variants import respell
from kbd_docx.styles.element_order import merge, put_child, remove
from kbd_docx.styles.properties import Properties, difference, given, put
from kbd_docx.styles.stylesheet import DocxStyleSheet, Style, StyleType, value_of
from kbd_docx.styles.theme import DocxTheme, made_plain, read_document_theme

__all__ = ["StyleCopier"]

_MOST_STYLES = 500
_MOST_ELEMENTS = 5_000
"""Of one style; those of tables have some hundred. To move many takes very long."""
_OTHER_HALF: dict[StyleType, StyleType] = {"paragraph": "character", "character": "paragraph"}

Key = tuple[StyleType, str]


class StyleCopier:
    """Copies styles of one document into another, each once.

    Args:
        theirs: The styles of the source.
        target: Where they go.
        lists: What takes their numbering along.
        theme: The source's theme where it differs from the target's, else None.
        picked: Those that take the place of the target's, by type and id.
    """

    def __init__(
        self,
        theirs: DocxStyleSheet,
        target: Target,
        lists: ListCopier,
        theme: DocxTheme | None,
        picked: Iterable[Key],
    ) -> None:
        self._target, self._lists, self._theme = target, lists, theme
        self.theirs = theirs
        self.ours = DocxStyleSheet(target.one("styles"), read_document_theme(target))
        self.ids: dict[Key, str] = {}
        self._written: dict[Key, Style] = {}
        self._replaced: dict[Key, str] = {}
        self._copies: set[Key] = set()
        self._taken: set[str] = set()
        self._pending: dict[Key, Style] = {}
        self._picked = set(picked)
        for type_, id_ in list(self._picked):
            style = self.theirs.get(type_, id_)
            half = self._half(style) if style else None
            if half is not None:
                self._picked.add((half.type, half.id))

    def carried(self, type_: StyleType, id_: str) -> str:
        """Return the id that a style of the source has in the target, "" if it has none there.

        Raises:
            ValidationFailed: It cannot be copied.
        """
        style = self.theirs.get(type_, id_) if id_ else None
        if style is None:
            return ""
        made = self._reserve(style)
        while self._pending:
            bases = self.theirs.chain(next(iter(self._pending.values())))
            for base in reversed(bases):
                self._reserve(base)
            for base in reversed(bases):
                if self._pending.pop((base.type, base.id), None):
                    self._write(base)
        return made

    def picked(self, style: Style) -> str:
        """Copy a style that was picked, and return in words what changed."""
        before = set(self._written)
        made = self.carried(style.type, style.id)
        # It may have come along with a style that was picked before it.
        twin = self._replaced.get((style.type, style.id), "")
        words = f"replaced {twin}" if twin else f"added as {style.name}"
        others = [each.name for key, each in self._written.items()
                  if key not in before and each.id != style.id]  # fmt: skip
        if others:
            words += f", with {listed(others)}"
        fonts = self.fonts(style)
        if fonts:
            words += f"; fonts: {listed(fonts)}"
        rest = self._dependants(style.type, made) if twin else []
        if rest:
            self._target.warnings.warn(
                f"Styles of the target that are based on {twin} change with it: {listed(rest)}."
            )
        return f"{style.type}_style:{style.id}: {words}"

    def fonts(self, style: Style) -> list[str]:
        """Return the fonts that a style asks for."""
        run = self.theirs.looks(style, style.type).run
        found = {run[key][0][1]: None for key in ("rFonts/ascii", "rFonts/hAnsi") if key in run}
        return list(found)

    def finish(self) -> None:
        """Have lists name the styles that came along."""
        self._lists.finish({key: self.ids[key] for key in self._written})

    def _dependants(self, type_: StyleType, id_: str) -> list[str]:
        """Return the target's styles that rest on one of its styles and are not copied ones."""
        based: dict[str, list[Style]] = {}
        for style in self.ours:
            if style.type == type_:
                based.setdefault(style.named("basedOn"), []).append(style)
        copied = {made for key, made in self.ids.items() if key[0] == type_}
        found: dict[str, str] = {}
        pending = [id_]
        while pending:
            for style in based.pop(pending.pop(), ()):
                pending.append(style.id)
                if style.id not in copied:
                    found[style.id] = style.name
        return list(found.values())

    def _twin(self, style: Style) -> Style | None:
        """Return the target's style that is the same by name, or by being the default."""
        found = self.ours.default(style.type) if style.is_default else None
        found = found or self.ours.named(style.type, style.name)
        return None if found is None or (found.type, found.id) in self._copies else found

    def _reserve(self, style: Style) -> str:
        """Return the id that a style will have; it is written later if it is to come along."""
        key = (style.type, style.id)
        if key not in self.ids:
            twin = self._twin(style)
            if key not in self._picked and (twin is not None or style.is_default):
                # A default that came along would change whatever names no style.
                self.ids[key] = twin.id if twin else ""
                return self.ids[key]
            if len(self.ids) >= _MOST_STYLES:
                msg = f"More than {_MOST_STYLES} styles would come along; copy fewer."
                raise ValidationFailed(msg)
            self._pending[key] = style
            self.ids[key] = twin.id if twin else self._free_id(style.id)
        return self.ids[key]

    def _free_id(self, wanted: str) -> str:
        made, number = wanted, 0
        while self.ours.has_id(made) or made in self._taken:
            number += 1
            made = f"{wanted}{number}"
        self._taken.add(made)
        return made

    def _write(self, style: Style) -> None:
        """Put a copy of a style into the target."""
        key = (style.type, style.id)
        twin, made = self._twin(style), self.ids[key]
        for each in (style, twin):
            if each is not None and sum(1 for _ in each.element.iter()) > _MOST_ELEMENTS:
                raise ValidationFailed(f"The style {each.name} is too large to be copied.")
        self._written[key] = style
        self._copies.add((style.type, made))
        copied = deepcopy(style.element)
        copied.tail = None
        copied.set(f"{W}styleId", made)
        if twin is not None and not twin.is_default:
            copied.attrib.pop(f"{W}default", "")
        self._rename(style, copied, made)
        root = self._target.ensured("styles", "styles")
        self.ours.root = root
        if twin is not None:
            self._replaced[key] = twin.name
            copied.tail = twin.element.tail
            root.replace(twin.element, copied)
            self.ours.forget(twin)
        else:
            root.append(copied)
        if self._theme is not None:
            made_plain(copied, self._theme)
        self._number(style, copied)
        if style.type == "table":
            self._merge(style, copied)
        else:
            self._say(style, copied)
        respell(copied, is_strict=self._target.rewriting.is_strict)
        self._target.welcome(self._target.part("styles"), copied)
        self.ours.enter(copied)

    def _rename(self, style: Style, copied: etree._Element, made: str) -> None:
        """Have a copy name the styles it is related to by the ids that they have now."""
        half = self._half(style)
        ids = {"basedOn": "", "next": "", "link": ""}
        base = self.theirs.chain(style)[1:2]
        if base:
            ids["basedOn"] = self.ids.get((base[0].type, base[0].id), "")
        follower = self.theirs.get(style.type, style.named("next"))
        if follower is not None:
            ids["next"] = self._reserve(follower)
        if half is not None:
            ids["link"] = self._reserve(half)
            kept = self.ours.get(half.type, ids["link"])
            if kept is not None and kept.named("link") != made:
                # The target's half belongs to another style, or to none.
                ids["link"] = ""
        for name, id_ in ids.items():
            for old in copied.findall(f"{W}{name}"):
                copied.remove(old)
            if id_:
                put_child(copied, name).set(f"{W}val", id_)

    def _half(self, style: Style) -> Style | None:
        """Return the character style that goes with a paragraph style, or the other way round."""
        other = _OTHER_HALF.get(style.type)
        return self.theirs.get(other, style.named("link")) if other else None

    def _number(self, style: Style, copied: etree._Element) -> None:
        """Have a copy be numbered as its source is."""
        number, level = self.theirs.numbering(style)
        wanted = number
        if number not in ("", "0"):
            wanted = self._lists.carried(number)
        for old in copied.findall(f"{W}pPr/{W}numPr/{W}numId"):
            remove(old)
        if style.type in ("table", "character"):
            return
        base = self.ours.get(style.type, value_of(copied, "basedOn"))
        there = self.ours.numbering(base)[0]
        if wanted in ("", "0") and there in ("", "0"):
            return
        if wanted == there and copied.find(f"{W}pPr/{W}numPr") is None:
            return
        entry = put_child(put_child(copied, "pPr"), "numPr")
        if level and entry.find(f"{W}ilvl") is None:
            put_child(entry, "ilvl").set(f"{W}val", level)
        put_child(entry, "numId").set(f"{W}val", wanted or "0")

    def _say(self, style: Style, copied: etree._Element) -> None:
        """Say in a copy what the target's bases and defaults would make different."""
        wanted = self.theirs.looks(style, style.type)
        self.ours.enter(copied)
        mine = self.ours.get(style.type, copied.get(f"{W}styleId", ""))
        there = self.ours.looks(mine, style.type)
        if mine is not None:
            self.ours.forget(mine)
        indents = self._list_indents(style)
        for name, more in (
            ("pPr", difference(indents | wanted.paragraph, indents | there.paragraph)),
            ("rPr", difference(wanted.run, there.run)),
        ):
            if more and (name == "rPr" or style.type == "paragraph"):
                put(put_child(copied, name), more)

    def _list_indents(self, style: Style) -> Properties:
        """Return the indents that a style has from its list, which hold where it says none."""
        level = self._lists.theirs.level(*self.theirs.numbering(style))
        told = level.find(f"{W}pPr") if level is not None else None
        found = given(told, "p", self.theirs.theme)
        return {key: value for key, value in found.items() if key.startswith("ind/")}

    def _merge(self, style: Style, copied: etree._Element) -> None:
        """Say in a copy of a table's style what its bases say, where the target's say otherwise."""
        bases = [each for each in self.theirs.chain(style)[1:] if not each.is_default]
        if all((each.type, each.id) in self._written for each in bases):
            return
        for base in bases:
            said = deepcopy(base.element)
            if self._theme is not None:
                made_plain(said, self._theme)
            merge(copied, said)
