"""Order of elements: children inserted in the places that the schema gives them.

Order of elements: ECMA-376, part 1, annex A (CT_PPr, CT_RPr, CT_Style and the like).
"""

from collections.abc import Mapping
from copy import deepcopy

from lxml import etree

from kbd_docx.blocks import W
from kbd_docx.styles.document import local_name

__all__ = ["inserted", "merge", "put_child", "remove"]

_ORDER: Mapping[str, Mapping[str, int]] = {
    name: {word: rank for rank, word in enumerate(words.split())}
    for name, words in {
        "rPr": "rStyle rFonts b bCs i iCs caps smallCaps strike dstrike outline shadow emboss "
        "imprint noProof snapToGrid vanish webHidden color spacing w kern position sz szCs "
        "highlight u effect bdr shd fitText vertAlign rtl cs em lang eastAsianLayout specVanish "
        "oMath",
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
        "defaultTableStyle evenAndOddHeaders",
    }.items()
}
_LAST = 1000
_SPLIT = ("pPr", "rPr", "tblPr", "trPr", "tcPr")
_MERGED = frozenset(
    (*_SPLIT, "tblStylePr", "tblBorders", "tcBorders", "tblCellMar", "tcMar", "pBdr")
)
"""What is inherited child by child."""


def inserted(parent: etree._Element, child: etree._Element) -> etree._Element:
    """Put an element into another one, in the place that the schema gives it; return it."""
    order = _ORDER.get(local_name(parent), {})
    rank = order.get(local_name(child), _LAST)
    for at, sibling in enumerate(parent):
        if isinstance(sibling.tag, str) and order.get(local_name(sibling), _LAST) > rank:
            parent.insert(at, child)
            return child
    parent.append(child)
    return child


def put_child(parent: etree._Element, name: str) -> etree._Element:
    """Return an element's child of a name, which is made in its place if it is not there."""
    found = parent.find(f"{W}{name}")
    if found is None:
        found = inserted(parent, parent.makeelement(f"{W}{name}"))
    return found


def merge(element: etree._Element, base: etree._Element) -> None:
    """Say in a style, or in a part of one, what its base says and it does not."""
    for child in base.iterchildren(f"{W}*"):
        name = local_name(child)
        if local_name(element) == "style" and name not in _MERGED:
            continue
        same = (each for each in element.iterchildren(str(child.tag))
                if each.get(f"{W}type") == child.get(f"{W}type"))  # fmt: skip
        own = next(same, None) if name in _MERGED else element.find(str(child.tag))
        if own is None:
            inserted(element, deepcopy(child))
        elif name in _MERGED:
            merge(own, child)


def remove(element: etree._Element) -> None:
    """Take an element out of what it stands in."""
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)
