"""Properties of paragraphs and runs as a flat table, and elements put in the order of the schema.

What an element says is cut into what is inherited by itself: `spacing` into `spacing/before`,
`spacing/line` and so on, borders into their sides. So the formatting of two styles can be
compared, and the one be made the other by a few elements. References to the theme are
resolved. What holds where nothing is said: the "default" of each property in ECMA-376, part 1,
17.3.1 and 17.3.2. Order of elements: annex A (CT_PPr, CT_RPr, CT_ParaRPr, CT_Style, the like).
"""

import re
from collections.abc import Mapping
from copy import deepcopy
from itertools import islice
from typing import Literal

from lxml import etree

from kbd.opc.element_names import local_name, local_part
from kbd_docx.document import OFF, W
from kbd_docx.styles.theme import DocxTheme, resolve_theme

__all__ = [
    "TWIPS_PER_POINT",
    "Kind",
    "Properties",
    "difference",
    "ensure_child",
    "inches",
    "insert_child",
    "measure",
    "merge_missing",
    "read_properties",
    "remove_element",
    "rounded",
    "twips",
    "write_properties",
]


# The schema's order of children, kept by hand: python-docx has it for elements that it makes only.
_ORDER: Mapping[str, Mapping[str, int]] = {
    name: {word: rank for rank, word in enumerate(words.split())}
    for name, words in {
        "rPr": "ins del moveFrom moveTo rStyle rFonts b bCs i iCs caps smallCaps strike dstrike "
        "outline shadow emboss imprint noProof snapToGrid vanish webHidden color spacing w kern "
        "position sz szCs highlight u effect bdr shd fitText vertAlign rtl cs em lang "
        "eastAsianLayout specVanish oMath",
        "pPr": "pStyle keepNext keepLines pageBreakBefore framePr widowControl numPr "
        "suppressLineNumbers pBdr shd tabs suppressAutoHyphens kinsoku wordWrap overflowPunct "
        "topLinePunct autoSpaceDE autoSpaceDN bidi adjustRightInd snapToGrid spacing ind "
        "contextualSpacing mirrorIndents suppressOverlap jc textDirection textAlignment "
        "textboxTightWrap outlineLvl divId cnfStyle rPr sectPr pPrChange",
        "tblPr": "tblStyle tblpPr tblOverlap bidiVisual tblStyleRowBandSize tblStyleColBandSize "
        "tblW jc tblCellSpacing tblInd tblBorders shd tblLayout tblCellMar tblLook",
        "tcPr": "cnfStyle tcW gridSpan hMerge vMerge tcBorders shd noWrap tcMar textDirection "
        "tcFitText vAlign hideMark",
        "tblStylePr": "pPr rPr tblPr trPr tcPr",
        "tblBorders": "top left start bottom right end insideH insideV",
        "tcBorders": "top left start bottom right end insideH insideV tl2br tr2bl",
        "tblCellMar": "top left start bottom right end",
        "tcMar": "top left start bottom right end",
        "pBdr": "top left bottom right between bar",
        "numPr": "ilvl numId",
        "p": "pPr",
        "r": "rPr",
        "tbl": "tblPr tblGrid",
        "style": "name aliases basedOn next link autoRedefine hidden uiPriority semiHidden "
        "unhideWhenUsed qFormat locked personal personalCompose personalReply rsid pPr rPr tblPr "
        "trPr tcPr tblStylePr",
        "sectPr": "headerReference footerReference footnotePr endnotePr type pgSz pgMar paperSrc "
        "pgBorders lnNumType pgNumType cols formProt vAlign noEndnote titlePg textDirection bidi "
        "rtlGutter docGrid printerSettings sectPrChange",
        "settings": "writeProtection view zoom removePersonalInformation removeDateAndTime "
        "doNotDisplayPageBoundaries displayBackgroundShape printPostScriptOverText "
        "printFractionalCharacterWidth printFormsData embedTrueTypeFonts embedSystemFonts "
        "saveSubsetFonts saveFormsData mirrorMargins alignBordersAndEdges "
        "bordersDoNotSurroundHeader bordersDoNotSurroundFooter gutterAtTop hideSpellingErrors "
        "hideGrammaticalErrors activeWritingStyle proofState formsDesign attachedTemplate "
        "linkStyles stylePaneFormatFilter stylePaneSortMethod documentType mailMerge revisionView "
        "trackRevisions doNotTrackMoves doNotTrackFormatting documentProtection autoFormatOverride "
        "styleLockTheme styleLockQFSet defaultTabStop autoHyphenation consecutiveHyphenLimit "
        "hyphenationZone doNotHyphenateCaps showEnvelope summaryLength clickAndTypeStyle "
        "defaultTableStyle evenAndOddHeaders bookFoldRevPrinting bookFoldPrinting "
        "bookFoldPrintingSheets drawingGridHorizontalSpacing drawingGridVerticalSpacing "
        "displayHorizontalDrawingGridEvery displayVerticalDrawingGridEvery "
        "doNotUseMarginsForDrawingGridOrigin drawingGridHorizontalOrigin drawingGridVerticalOrigin "
        "doNotShadeFormData noPunctuationKerning characterSpacingControl printTwoOnOne "
        "strictFirstAndLastChars noLineBreaksAfter noLineBreaksBefore savePreviewPicture "
        "doNotValidateAgainstSchema saveInvalidXml ignoreMixedContent alwaysShowPlaceholderText "
        "doNotDemarcateInvalidXml saveXmlDataOnly useXSLTWhenSaving saveThroughXslt showXMLTags "
        "alwaysMergeEmptyNamespace updateFields hdrShapeDefaults footnotePr endnotePr compat "
        "docVars rsids mathPr attachedSchema themeFontLang clrSchemeMapping",
    }.items()
}
_LAST = 1000
_SPLIT = ("pPr", "rPr", "tblPr", "trPr", "tcPr")
_MERGED = frozenset(
    (*_SPLIT, "tblStylePr", "tblBorders", "tcBorders", "tblCellMar", "tcMar", "pBdr")
)
"""What is inherited child by child."""


def insert_child(parent: etree._Element, child: etree._Element) -> etree._Element:
    """Insert an element into another one in schema order, and return it."""
    order = _ORDER.get(local_name(parent), {})
    # What is not listed ranks last, where extensions of newer programs stand.
    rank = order.get(local_name(child), _LAST)
    for at, sibling in enumerate(parent):
        if isinstance(sibling.tag, str) and order.get(local_name(sibling), _LAST) > rank:
            parent.insert(at, child)
            return child
    parent.append(child)
    return child


def ensure_child(parent: etree._Element, name: str) -> etree._Element:
    """Return an element's child of a name, created in schema order if missing."""
    found = parent.find(f"{W}{name}")
    if found is None:
        found = insert_child(parent, parent.makeelement(f"{W}{name}"))
    return found


def merge_missing(element: etree._Element, base: etree._Element) -> None:
    """Merge into a style, or a part of one, what its base sets and it does not."""
    for child in base.iterchildren(f"{W}*"):
        name = local_name(child)
        # A style's name, bases and other data are its own, and no formatting.
        if local_name(element) == "style" and name not in _MERGED:
            continue
        # The formatting of a table's parts has one name, and differs by the type (`tblStylePr`).
        same = (each for each in element.iterchildren(str(child.tag))
                if each.get(f"{W}type") == child.get(f"{W}type"))  # fmt: skip
        own = next(same, None) if name in _MERGED else element.find(str(child.tag))
        if own is None:
            insert_child(element, deepcopy(child))
        elif name in _MERGED:
            merge_missing(own, child)


def remove_element(element: etree._Element) -> None:
    """Remove an element from its parent."""
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)


Kind = Literal["p", "r"]
"""Whether properties are those of paragraphs (pPr) or of runs (rPr)."""

Value = tuple[tuple[str, str], ...]
"""A property's attributes, sorted, with the names that the usual variant has."""

Properties = dict[str, Value]

_MAX_TABS = 64
"""As many tab stops as programs take."""

_ON_OFF_WORDS = (
    "b bCs i iCs caps smallCaps strike dstrike outline shadow emboss imprint snapToGrid vanish "
    "webHidden rtl cs specVanish oMath keepNext keepLines pageBreakBefore widowControl "
    "suppressLineNumbers suppressAutoHyphens kinsoku wordWrap overflowPunct topLinePunct "
    "autoSpaceDE autoSpaceDN bidi adjustRightInd contextualSpacing mirrorIndents suppressOverlap"
)
_ON_WORDS = (
    "snapToGrid widowControl kinsoku wordWrap overflowPunct autoSpaceDE autoSpaceDN adjustRightInd"
)
_IGNORED_WORDS = (
    "pStyle rStyle rPr sectPr pPrChange rPrChange lang noProof numPr cnfStyle divId "
    "eastAsianLayout fitText"
)
_ON_OFF = frozenset(_ON_OFF_WORDS.split())
_ON_BY_DEFAULT = frozenset(_ON_WORDS.split())
_IGNORED = frozenset(_IGNORED_WORDS.split())
"""What is no look, or belongs to one place only; numbering is carried by itself."""
_SPREAD = {"p": ("spacing", "ind"), "r": ()}
# Told together: LibreOffice cut off pictures where a height of lines came without its rule.
_LINE = ("spacing/line", "spacing/lineRule")
_FONTS = ("ascii", "hAnsi", "eastAsia", "cs")
_NO_BORDER: Value = (("val", "nil"),)
_DEFAULTS: Mapping[str, Value] = {
    "color": (("val", "auto"),),
    "spacing": (("val", "0"),),
    "w": (("val", "100"),),
    "kern": (("val", "0"),),
    "position": (("val", "0"),),
    "sz": (("val", "20"),),  # in half points
    "szCs": (("val", "20"),),
    "highlight": (("val", "none"),),
    "u": (("val", "none"),),
    "effect": (("val", "none"),),
    "bdr": _NO_BORDER,
    "shd": (("color", "auto"), ("fill", "auto"), ("val", "clear")),
    "vertAlign": (("val", "baseline"),),
    "em": (("val", "none"),),
    "jc": (("val", "left"),),
    "textDirection": (("val", "lrTb"),),
    "textAlignment": (("val", "auto"),),
    "textboxTightWrap": (("val", "none"),),
    "outlineLvl": (("val", "9"),),
    "spacing/line": (("", "240"),),  # in 240ths of a line
    "spacing/lineRule": (("", "auto"),),
    **{f"rFonts/{slot}": (("", "Times New Roman"),) for slot in _FONTS},
}
_TWIPS_PER_INCH, TWIPS_PER_POINT = 1440, 20
_UNITS = {"in": 1440, "pt": 20, "pc": 240, "pi": 240, "cm": 1440 / 2.54, "mm": 1440 / 25.4}
_LENGTH = re.compile(r"(-?\d{1,9}(?:\.\d{1,6})?)(in|pt|pc|pi|cm|mm)?")
_SIDES = {"start": "left", "end": "right", "startChars": "leftChars", "endChars": "rightChars"}


def read_properties(container: etree._Element | None, kind: Kind, theme: DocxTheme) -> Properties:
    """Read the formatting properties of an element (pPr, rPr).

    Args:
        container: The element; None says nothing.
        kind: Of what it holds the properties.
        theme: What references in it mean.
    """
    found: Properties = {}
    if container is None:
        return found
    # In a copy: resolving changes the element, and reading must not change a document.
    plain = deepcopy(container)
    resolve_theme(plain, theme)
    for element in plain.iterchildren(f"{W}*"):
        name = local_name(element)
        if name in _IGNORED:
            continue
        if name == "rFonts":
            for slot in _FONTS:
                if element.get(f"{W}{slot}"):
                    found[f"rFonts/{slot}"] = (("", element.get(f"{W}{slot}", "")),)
        elif name in _SPREAD[kind]:
            _spread(name, _attributes(element), found)
        elif name == "pBdr":
            for side in element.iterchildren(f"{W}*"):
                word = local_name(side)
                found[f"pBdr/{_SIDES.get(word, word)}"] = tuple(_attributes(side).items())
        elif name == "tabs":
            for tab in islice(element.iterchildren(f"{W}tab"), _MAX_TABS):
                found[f"tabs/{tab.get(f'{W}pos', '')}"] = tuple(_attributes(tab).items())
        else:
            found[name] = _simple(name, _attributes(element))
    return found


def difference(wanted: Properties, there: Properties) -> Properties:
    """Return the properties to set on top of existing ones to get the wanted formatting."""
    made = {}
    for key in sorted({*wanted, *there}):
        neutral = _default_of(key)
        value = wanted.get(key, neutral)
        if value is not None and value != there.get(key, neutral):
            made[key] = value
    if made.keys() & set(_LINE):
        # One program takes a height without its rule for an exact one.
        made |= {key: wanted.get(key, _DEFAULTS[key]) for key in _LINE}
    return made


def write_properties(container: etree._Element, properties: Properties) -> None:
    """Write properties into an element (pPr, rPr), in schema order."""
    for key, value in properties.items():
        name, slash, part = key.partition("/")
        if not slash:
            _replace_child(container, name, value)
        elif name in ("pBdr", "tabs"):
            _write_part(container, name, part, value)
        else:
            _write_attribute(container, name, part, value[0][1])


def _attributes(element: etree._Element) -> dict[str, str]:
    """Return an element's own attributes, sorted."""
    found = {}
    for key, value in sorted(element.attrib.items()):
        if str(key).startswith(W):
            found[local_part(str(key))] = str(value)
    return found


def _simple(name: str, attributes: dict[str, str]) -> Value:
    if name in _ON_OFF:
        return (("val", "0" if attributes.get("val", "1") in OFF else "1"),)
    if name == "jc":
        word = attributes.get("val", "")
        return (("val", _SIDES.get(word, word)),)
    return tuple(attributes.items())


def _spread(name: str, attributes: dict[str, str], found: Properties) -> None:
    """Split spacing or indents into properties that are inherited one by one."""
    for key, value in attributes.items():
        word = _SIDES.get(key, key)
        if word == "hanging":
            # It rules over firstLine, and is its opposite.
            found["ind/firstLine"] = (("", _negated(value)),)
        elif word != "firstLine" or "hanging" not in attributes:
            found[f"{name}/{word}"] = (("", value),)


def _negated(value: str) -> str:
    # A zero gets no sign, since with one it would be written as a hanging indent.
    if value.strip("0.") in ("", "-"):
        return "0"
    return value.removeprefix("-") if value.startswith("-") else f"-{value}"


def _default_of(key: str) -> Value | None:
    """Return a property's default value, None if it cannot be written."""
    if key in _DEFAULTS:
        return _DEFAULTS[key]
    name, _, part = key.partition("/")
    if name in _ON_OFF:
        return (("val", "1" if name in _ON_BY_DEFAULT else "0"),)
    match name:
        case "spacing" | "ind":
            return (("", "0"),)
        case "pBdr":
            return _NO_BORDER
        case "tabs":
            # A tab stop that is inherited goes only by one at the same place that clears it.
            return (("pos", part), ("val", "clear"))
        case _:
            return None


def _replace_child(container: etree._Element, name: str, value: Value) -> None:
    for old in container.findall(f"{W}{name}"):
        container.remove(old)
    element = container.makeelement(f"{W}{name}")
    for key, text in value:
        element.set(f"{W}{key}", text)
    insert_child(container, element)


def _write_part(container: etree._Element, name: str, part: str, value: Value) -> None:
    """Replace a side of the borders, or a tab stop; tab stops stand in order of their places."""
    group = ensure_child(container, name)
    word = "tab" if name == "tabs" else part
    for old in list(group):
        # A side may be there in the strict variant's spelling.
        if local_name(old) in (word, *(k for k, v in _SIDES.items() if v == word)) and (
            name == "pBdr" or old.get(f"{W}pos") == part
        ):
            group.remove(old)
    element = group.makeelement(f"{W}{word}")
    for key, text in value:
        element.set(f"{W}{key}", text)
    insert_child(group, element)
    if name == "tabs":
        group[:] = sorted(group, key=_tab_place)


def _tab_place(tab: etree._Element) -> float:
    return twips(tab.get(f"{W}pos", "") if isinstance(tab.tag, str) else "") or 0.0


def _write_attribute(container: etree._Element, name: str, part: str, text: str) -> None:
    element = ensure_child(container, name)
    if name == "rFonts":
        # A reference to the theme would win over the name (ECMA-376, part 1, 17.3.2.26).
        theme = "cstheme" if part == "cs" else f"{part}Theme"
        element.attrib.pop(f"{W}{theme}", "")
    if part == "firstLine":
        # Only one of both may be there, for `hanging` wins; and `firstLine` cannot be negative.
        for old in ("firstLine", "hanging"):
            element.attrib.pop(f"{W}{old}", "")
        if text.startswith("-"):
            part, text = "hanging", text.removeprefix("-")
    # The other spelling of the side would contradict the new value.
    for spelling, usual in _SIDES.items():
        if usual == part:
            element.attrib.pop(f"{W}{spelling}", "")
    element.set(f"{W}{part}", text)


def inches(text: str | None) -> float | None:
    """Return a document's length (twips, or with a unit) in inches, None if it is none."""
    length = twips(text or "")
    return None if length is None else rounded(length / _TWIPS_PER_INCH)


def measure(text: str) -> float | None:
    """Return a number of half points or the like, None if it is none."""
    found = _LENGTH.fullmatch(text.strip())
    if found is None:
        return None
    if found[2]:
        # Sizes with a unit are lengths; two half points are a point.
        return float(found[1]) * _UNITS[found[2]] / TWIPS_PER_POINT * 2
    return rounded(float(found[1]))


def twips(text: str) -> float | None:
    """Return a length in twips, None if it is none; one without a unit is in twips."""
    found = _LENGTH.fullmatch(text.strip())
    return float(found[1]) * _UNITS.get(found[2] or "", 1) if found else None


def rounded(number: float) -> float:
    """Return a number without needless digits; 1.0 stays a float, as fields of it are floats."""
    return round(number, 3)
