"""Active content of text that programs show rendered: pages, drawings, markup, style sheets.

Found by patterns in the whole text, not by parsing it: programs mend broken pages each in its own
way, and what only one of them takes for a script is a script there. So more is found than runs,
such as a script that a page shows as an example; a person is asked about it.

    script, event handler, script address   what runs
    frame, refresh, base address, raw page  what opens or sends something else
    remote content                          what is fetched when the text is shown
    link with a query                       what would be sent when a person follows it
    office document                         XML that office programs open, formulas and fields too
    alarm or attachment                     what a calendar or a card starts, sends or fetches
"""

import html
import re
import sys
from collections.abc import Iterator

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.formats.active import ActiveContent
from kbd.plaintext.encodings import detect, open_text

__all__ = ["MAX_CHARACTERS", "rendered_content"]

MAX_CHARACTERS = 64 * 1024 * 1024
"""A longer text is not looked through."""

# Every repetition that may begin anywhere is bounded, or keeps what it has passed: a hostile text
# costs no more than a long one.
_FLAGS = re.IGNORECASE | re.DOTALL
_SCRIPT = re.compile(r"<\s*(?:[\w.-]+:)?script\b.*?(?:<\s*/\s*(?:[\w.-]+:)?script|\Z)", _FLAGS)
# In a tag any name counts; where the quotes of a tag are broken, the names that there are.
_HANDLER = re.compile(
    r"<[a-z][^<>]*?[\s\"'/]on[a-z]{3,30}\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s>]*)"
    r"|[\s\"'/>]on(?:abort|after\w+|animation\w*|auxclick|before\w+|begin|blur|bounce|can\w+|change"
    r"|click|close|command|context\w+|copy|cue\w+|cut|dblclick|device\w+|drag\w*|drop|duration\w+"
    r"|emptied|end|ended|error|finish|focus\w*|formdata|fullscreen\w+|gamepad\w+|gotpointer\w+"
    r"|hash\w+|input|invalid|key\w+|language\w+|load\w*|lostpointer\w+|message\w*|mouse\w+|moz\w+"
    r"|ms[a-z]\w+|offline|online|page\w+|paste|pause|play\w*|pointer\w+|popstate|progress"
    r"|property\w+|rate\w+|readystate\w+|rejection\w+|repeat|reset|resize|scroll\w*|search"
    r"|security\w+|seek\w+|select\w*|show|slot\w+|snap\w+|stalled|start|storage|submit|suspend"
    r"|timeupdate|toggle|touch\w+|transition\w+|unhandled\w+|unload|volume\w+|waiting|webkit\w+"
    r"|wheel)\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s>]*)",
    _FLAGS,
)
# Looked for where blanks and line ends are gone: programs skip them within an address.
_SCRIPT_ADDRESS = re.compile(
    r"[=(\"'<:](?:javascript|vbscript|livescript):[^\"'<>)]{0,200}"
    r"|[=(\"'<](?:data:(?:text/html|image/svg|application/xhtml|text/xml))[^\"'<>)]{0,200}",
    _FLAGS,
)
_FRAME = re.compile(r"<\s*(?:iframe|frame|object|embed|applet|portal|fencedframe)\b[^<>]*", _FLAGS)
_REFRESH = re.compile(r"http-equiv\s*=\s*[\"']?\s*refresh[^<>]*", _FLAGS)
_BASE = re.compile(r"<\s*base\b[^<>]*", _FLAGS)
_RAW = re.compile(
    r"<\?xml-stylesheet\b[^>]*|<!ENTITY\b[^>]*|^\.\.\s+raw::[^\n]*|\\(?:write18|input\|)[^\n]*"
    r"|^\+{4,}$|<\?php\b[^\n]*",
    re.IGNORECASE | re.MULTILINE,
)
# Of the schemes of the web the slashes may be missing: `http:example.org` leads there, too.
_REMOTE = (
    r"(?:(?:(?:https?|wss?|ftps?):|(?:[a-z][a-z0-9+.-]{0,20}:)?(?://|\\\\|/\\|\\/))"
    r"[^\s\"'<>()\[\]]+)"
)
# Excel and Word by the instruction, LibreOffice by the namespace, whatever the file is called.
_OFFICE = re.compile(
    r"<\?mso-application\b[^>]*|urn:schemas-microsoft-com:office:(?:spreadsheet|word|excel|powerpoint)"
    r"|schemas\.microsoft\.com/office/(?:word/2003/wordml|2006/xmlpackage)"
    r"|urn:oasis:names:tc:opendocument:xmlns:office",
    re.IGNORECASE,
)
# Of calendars and cards: an alarm starts or sends something, and pictures and sounds are fetched.
_CARD = re.compile(r"^BEGIN:V(?:CALENDAR|CARD)\b", re.IGNORECASE | re.MULTILINE)
_FOLDED = re.compile(r"\r?\n[ \t]")
_ALARM = re.compile(
    r"^(?:[\w-]+\.)?(?:ACTION[^:\n]{0,200}:\s*(?:PROCEDURE|EMAIL)"
    r"|(?:ATTACH|IMAGE|PHOTO|LOGO|SOUND|SOURCE)[;:][^\n]{0,2000}?//[^\n]{0,2000})",
    re.IGNORECASE | re.MULTILINE,
)
_ATTRIBUTE = re.compile(
    r"(?<![\w-])(src|srcset|imagesrcset|attributionsrc|poster|background|data|dynsrc|lowsrc|longdesc"
    r"|archive|codebase|classid|manifest|profile|action|formaction|ping|xml:base|xlink:href|href|to"
    r"|from|values)\s*+=\s*+(?:\"([^\"]*+)|'([^']*+)|([^\"'<>]{0,2000}+))",
    _FLAGS,
)
_ADDRESS = re.compile(_REMOTE, _FLAGS)
_STYLE = re.compile(
    rf"(?:url\(|@import|src\(|document\()[\s\"']*+({_REMOTE})|(@import\s*+/\*[^;]{{0,200}})", _FLAGS
)
_IMAGE_SET = re.compile(r"image-set\((?>(?:\"[^\"]*\"|'[^']*'|[^;{}\"'])*)", _FLAGS)
_STYLE_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|([^\n]))", re.IGNORECASE)
_TYPE_DEFINITION = re.compile(
    # What nearly every drawing and list of properties names, no program fetches.
    rf"<!DOCTYPE\s[^>\[]{{0,1000}}?[\"']"
    rf"(?!https?://www\.(?:w3|apple|oasis-open)\.(?:org|com)/)({_REMOTE})[\"']",
    _FLAGS,
)
_MARKUP_IMAGE = re.compile(
    rf"(?:image|figure|include|literalinclude|video|audio|iframe)::?\s*({_REMOTE})"
    rf"|:(?:url|file|src):\s*({_REMOTE})|(?<!\w)!({_REMOTE})!"
    rf"|\[\[({_REMOTE})\]\]|#\+include:\s*\"?({_REMOTE})",
    _FLAGS,
)
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_BRACKET = re.compile(rf"(!?\[)|\](?:\(\s*+<?\s*+({_REMOTE})|(\([^\s()]*\)))?", _FLAGS)
_TARGET = re.compile(rf"\]\(\s*+<?\s*+({_REMOTE})", _FLAGS)
_REFERENCE = re.compile(rf"\]:\s*+<?\s*+({_REMOTE})", _FLAGS)
_MARKUP_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_LINK = re.compile(
    r"(?:(?:https?|ftps?|wss?):(?:\s*[/\\]{2})?|[/\\]{2}|mailto:)[^\s\"'<>\])]+", re.IGNORECASE
)
_SENDS = re.compile(r"\?[^\s]|^(?!mailto:)(?:[a-z]+:)?\s*[/\\]*[^/\\?#]*@", re.IGNORECASE)
# Some encodings are switched by sequences that a program drops, within a tag, too (ISO 2022).
_SWITCHES = re.compile(r"\x1b[ -/]*[0-~]|\x00")
_SKIPPED = re.compile(r"[\x00-\x20]+")
_LINE_ENDS = re.compile(r"[\t\r\n\x00]+")


def rendered_content(source: Source, *, is_markup: bool = False) -> ActiveContent:
    """Return the active content of a text.

    Args:
        source: The text.
        is_markup: Whether it is of a markup that has pictures of its own, such as `![x](y)`.

    Raises:
        FileReadFailed: It cannot be read, or is too long.
    """
    found = ActiveContent()
    for kind, content in _pieces(_text(source), is_markup=is_markup):
        found.add(kind, content)
    return found


def _text(source: Source) -> str:
    with open_text(source.path, detect(source.path)) as file:
        text = file.read(MAX_CHARACTERS + 1)
    if len(text) > MAX_CHARACTERS:
        raise FileReadFailed(f"{source.name} has more than {MAX_CHARACTERS:,} characters")
    return _SWITCHES.sub("", text)


def _pieces(text: str, *, is_markup: bool) -> Iterator[tuple[str, str]]:
    """Yield the kind and the content of each piece."""
    yield from _runs(text)
    plain = html.unescape(text)
    for found in _REFRESH.finditer(plain):
        yield "refresh", found[0]
    spellings = [plain]
    if is_markup and "\\" in plain:
        # Before a punctuation mark a backslash of a markup is dropped, in an address, too.
        spellings.append(_MARKUP_ESCAPE.sub(r"\1", plain))
    for spelled in spellings:
        for found in _SCRIPT_ADDRESS.finditer(_SKIPPED.sub("", spelled)):
            yield "script address", found[0][1:]
    told = set(_fetched(plain))
    if is_markup:
        told.update(address for spelled in spellings for address in _pictured(spelled))
    for address in sorted(told):
        yield "remote content", address
    for spelled in spellings:
        for found in _LINK.finditer(spelled):
            address = found[0].rstrip(".,;:!")
            if address not in told and _SENDS.search(address):
                yield "link with a query", address


def _runs(text: str) -> Iterator[tuple[str, str]]:
    """Yield what runs or is started by itself when a text is opened, as it is spelled there."""
    for kind, pattern in (
        ("script", _SCRIPT), ("event handler", _HANDLER), ("frame", _FRAME),
        ("base address", _BASE), ("raw page", _RAW), ("office document", _OFFICE),
    ):  # fmt: skip
        for found in pattern.finditer(text):
            yield kind, found[0]
    if _CARD.search(text):
        for found in _ALARM.finditer(_FOLDED.sub("", text)):
            yield "alarm or attachment", found[0]


def _fetched(plain: str) -> Iterator[str]:
    """Yield the addresses that are fetched when a text is shown."""
    # Once as it is and once without the line ends that programs drop within an address.
    for text in dict.fromkeys((plain, _LINE_ENDS.sub("", plain))):
        for found in _ATTRIBUTE.finditer(text):
            value = found[2] or found[3] or found[4] or ""
            for address in _ADDRESS.finditer(value):
                # What stands behind the address of a link belongs to another attribute.
                if address.start() or not _is_link(text, found):
                    yield address[0]
        yield from _styled(text)
    if "\\" in plain:
        yield from _styled(_STYLE_ESCAPE.sub(_style_character, plain))
    for found in _TYPE_DEFINITION.finditer(plain):
        yield found[1]


def _styled(text: str) -> Iterator[str]:
    """Yield the addresses that styles fetch."""
    for found in _STYLE.finditer(text):
        yield found[1] or found[2]
    for found in _IMAGE_SET.finditer(text):
        for address in _ADDRESS.finditer(found[0]):
            yield address[0]


def _style_character(escape: re.Match[str]) -> str:
    r"""Return what an escape of a style sheet stands for: `\2f` is a slash, `\r` an r."""
    if escape[1] is None:
        return escape[2]
    code = int(escape[1], 16)
    return chr(code) if code <= sys.maxunicode else ""


def _pictured(text: str) -> Iterator[str]:
    """Yield the addresses that the pictures of a markup are fetched from."""
    for found in _MARKUP_IMAGE.finditer(text):
        yield next(filter(None, found.groups()))
    refers = False
    # No picture of Markdown goes beyond a blank line.
    for paragraph in _BLANK_LINE.split(text):
        begins = paragraph.find("![")
        if begins < 0:
            continue
        if any(mark in paragraph for mark in "`\\<"):
            # Code, escapes and tags bind tighter than brackets: any bracket may be none.
            refers = True
            for found in _TARGET.finditer(paragraph, begins):
                yield found[1]
            continue
        open_ones: list[bool] = []
        for found in _BRACKET.finditer(paragraph, begins):
            if found[1]:
                open_ones.append(found[1] == "![")
            elif open_ones and open_ones.pop():
                if found[2]:
                    yield found[2]
                refers = refers or not (found[2] or found[3])
    if refers:
        for found in _REFERENCE.finditer(text):
            yield found[1]


_LINKS = re.compile(r"<\s*(?:\w+:)?(?:a|area)\b", re.IGNORECASE)


def _is_link(text: str, found: re.Match[str]) -> bool:
    """Return whether an attribute is the address of a link, which a person follows."""
    if found[1].lower() not in ("href", "xlink:href"):
        return False
    begins = text.rfind("<", max(0, found.start() - 2000), found.start())
    return begins >= 0 and _LINKS.match(text, begins) is not None
