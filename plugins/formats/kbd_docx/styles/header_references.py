"""Which headers and footers the sections of a document reference, changed for some of them only.

A section without a header of a type has that of the section before; the settings of a section
(titlePg) or of the document (evenAndOddHeaders) say whether its other types are shown. So that no
other section and no other page changes, what they inherited is referenced in them.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import get_args

from lxml import etree

from kbd_docx.document import R, W, is_on
from kbd_docx.styles.properties import insert_child
from kbd_docx.styles.sections import (
    HEADER_FOOTER_TYPES,
    HeaderFooterKind,
    has_title_page,
    header_reference,
)

__all__ = [
    "EffectiveHeaders",
    "HeaderReferences",
    "effective_headers",
    "referenced_headers",
    "set_reference",
]

EffectiveHeaders = dict[tuple[str, str], str]
"""The relation of the header of a section by its kind and type."""


class HeaderReferences:
    """The references to headers and footers in the sections of a document.

    Args:
        sections: The sections, in order.
        empty_part: Returns the relation of an empty header or footer.
    """

    def __init__(
        self,
        sections: Sequence[etree._Element],
        empty_part: Callable[[HeaderFooterKind], str],
    ) -> None:
        self.sections, self._empty_part = sections, empty_part

    def name_inherited(
        self,
        chosen: Sequence[int],
        kinds: AbstractSet[HeaderFooterKind],
        type_: str,
        shown: Sequence[EffectiveHeaders],
    ) -> None:
        """Write into the sections after changed ones the headers that they inherited so far.

        Args:
            chosen: The indices of the changed sections.
            kinds: What is set in these: headers, footers or both.
            type_: Of which type.
            shown: What each section has or inherits, before the change.
        """
        sections = self.sections
        # Only the section right after a changed one: those behind it go on to inherit from it.
        for index in sorted({each + 1 for each in chosen} - set(chosen)):
            if index >= len(sections):
                continue
            section = sections[index]
            is_first = type_ == "first"
            is_shown = not is_first or any(map(has_title_page, sections[index:]))
            is_switched_on = is_first and not has_title_page(sections[index - 1])
            for kind in get_args(HeaderFooterKind):
                # Of both kinds: `show_first` has a changed section name a header and a footer.
                had = shown[index].get((kind, type_), "")
                is_new = kind in kinds or (is_switched_on and (kind, "default") in shown[index - 1])
                if had:
                    set_reference(section, kind, type_, had)
                elif is_new and is_shown:
                    # It had none so far; without an empty one it would inherit the new one.
                    set_reference(section, kind, type_, self._empty_part(kind))

    def show_first(self, section: etree._Element, shown: EffectiveHeaders) -> None:
        """Turn a section's first-page header on; what it showed so far is referenced explicitly."""
        for kind in get_args(HeaderFooterKind):
            had = shown.get((kind, "default"), "")
            if had:
                # Its first page looked like its other pages, so it names what those show.
                set_reference(section, kind, "first", had)
            elif shown.get((kind, "first")):
                # One was there that the section did not show; it must not appear with the switch.
                set_reference(section, kind, "first", self._empty_part(kind))
        # One that is there says off; the new one has no value, which means on.
        for old in section.findall(f"{W}titlePg"):
            section.remove(old)
        insert_child(section, section.makeelement(f"{W}titlePg"))

    def show_even(self, settings: etree._Element) -> None:
        """Turn even-page headers on; what pages showed so far is referenced explicitly."""
        switch = settings.find(f"{W}evenAndOddHeaders")
        if is_on(switch):
            return
        if switch is not None:
            settings.remove(switch)
        insert_child(settings, settings.makeelement(f"{W}evenAndOddHeaders"))
        for section in self.sections:
            for kind in get_args(HeaderFooterKind):
                # A section that names none of its own inherits those of odd and even pages alike;
                # one that names one for even pages only did not show it so far.
                default = header_reference(section, kind, "default")
                unused = header_reference(section, kind, "even")
                if default is not None:
                    set_reference(section, kind, "even", default.get(f"{R}id", ""))
                elif unused is not None:
                    section.remove(unused)


def set_reference(
    section: etree._Element, kind: HeaderFooterKind, type_: str, relation: str
) -> None:
    """Set a section's reference to a header."""
    found = header_reference(section, kind, type_)
    if found is None:
        found = section.makeelement(f"{W}{kind}Reference")
        found.set(f"{W}type", type_)
        insert_child(section, found)
    found.set(f"{R}id", relation)


def effective_headers(sections: Sequence[etree._Element]) -> list[EffectiveHeaders]:
    """Return, for each section, the relations of the headers that it has or inherits."""
    found: list[EffectiveHeaders] = []
    last: EffectiveHeaders = {}
    for section in sections:
        # A copy, since the list holds what the section before has.
        last = dict(last)
        for kind in get_args(HeaderFooterKind):
            for type_ in HEADER_FOOTER_TYPES:
                own = header_reference(section, kind, type_)
                if own is not None:
                    last[kind, type_] = own.get(f"{R}id", "")
        found.append(last)
    return found


def referenced_headers(body: etree._Element) -> set[str]:
    """Return the relations that sections name."""
    kinds = (f"{W}headerReference", f"{W}footerReference")
    return {each.get(f"{R}id", "") for each in body.iter(*kinds)}
