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
from collections.abc import Iterator

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.formats.active import ActiveContent
from kbd.plaintext.encodings import detect, open_text

__all__ = ["MAX_CHARACTERS", "rendered_content"]

MAX_CHARACTERS = 64 * 1024 * 1024
"""A longer text is not looked through."""

# Every repetition that may begin anywhere is bounded: a hostile text costs no more than a long one.
_FLAGS = re.IGNORECASE | re.DOTALL
_SCRIPT = re.compile(r"<\s*(?:[\w.-]+:)?script\b.*?(?:<\s*/\s*(?:[\w.-]+:)?script|\Z)", _FLAGS)
# In a tag any name counts; where the quotes of a tag are broken, the names that there are.
_HANDLER = re.compile(
    r"<[a-z][^<>]*?[\s\"'/]on[a-z]{3,30}\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s>]*)"
    r"|[\s\"'/>]on(?:abort|animation\w*|before\w+|begin|blur|can\w+|change|click|close|context\w+"
    r"|copy|cut|dblclick|drag\w*|drop|end|ended|error|focus\w*|hash\w+|input|invalid|key\w+"
    r"|load\w*|message|mouse\w+|page\w+|paste|play\w*|pointer\w+|popstate|progress|repeat|reset"
    r"|resize|scroll\w*|search|select|show|start|storage|submit|toggle|touch\w+|transition\w+"
    r"|unload|wheel)\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s>]*)",
    _FLAGS,
)
# Looked for where blanks and line ends are gone: programs skip them within an address.
_SCRIPT_ADDRESS = re.compile(
    r"[=(\"'<:](?:javascript|vbscript|livescript):[^\"'<>)]{0,200}"
    r"|[=(\"'<](?:data:(?:text/html|image/svg|application/xhtml|text/xml))[^\"'<>)]{0,200}",
    _FLAGS,
)
_FRAME = re.compile(r"<\s*(?:iframe|frame|object|embed|applet|portal|fencedframe)\b[^<>]*", _FLAGS)
_REFRESH = re.compile(r"<\s*meta\b[^<>]*http-equiv\s*=\s*[\"']?\s*refresh[^<>]*", _FLAGS)
_BASE = re.compile(r"<\s*base\b[^<>]*", _FLAGS)
_RAW = re.compile(
    r"<\?xml-stylesheet\b[^>]*|<!ENTITY\b[^>]*|^\.\.\s+raw::[^\n]*|\\(?:write18|input\|)[^\n]*"
    r"|^\+{4,}$|<\?php\b[^\n]*",
    re.IGNORECASE | re.MULTILINE,
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
_REMOTE = r"(?:(?:[a-z][a-z0-9+.-]{0,20}:)?(?://|\\\\|/\\|\\/)[^\s\"'<>()\[\]]+)"
_ATTRIBUTE = re.compile(
    r"(?<![\w-])(src|srcset|imagesrcset|poster|background|data|dynsrc|lowsrc|longdesc|archive"
    r"|codebase|classid|manifest|profile|action|formaction|ping|xlink:href|href|to|from|values)"
    r"\s*+=\s*+[\"']?+([^\"'<>]{0,2000}+)",
    _FLAGS,
)
_ADDRESS = re.compile(_REMOTE, _FLAGS)
_STYLE = re.compile(rf"(?:url\(|@import|image-set\(|src\()[\s\"']{{0,20}}({_REMOTE})", _FLAGS)
_DOCTYPE = re.compile(r"<!DOCTYPE\b[^<>\[]{0,2000}", _FLAGS)
_QUOTED_ADDRESS = re.compile(rf"[\"']\s{{0,20}}({_REMOTE})", _FLAGS)
# Names of document types that programs hold a copy of: nothing is fetched, and nobody learns of it.
_KNOWN = re.compile(r"https?://(?:www\.w3\.org|www\.apple\.com)/", re.IGNORECASE)
_MARKUP_IMAGE = re.compile(
    rf"!\[[^\]]{{0,200}}\]\(\s{{0,20}}<?({_REMOTE})|(?:image|figure|include|literalinclude|video|audio"
    rf"|iframe)::?\s*({_REMOTE})|:(?:url|file|src):\s*({_REMOTE})|(?<!\w)!({_REMOTE})!"
    rf"|\[\[({_REMOTE})\]\]|#\+include:\s*\"?({_REMOTE})",
    _FLAGS,
)
_REFERENCE = re.compile(rf"^\s{{0,3}}\[[^\]\n]+\]:\s*<?({_REMOTE})", _FLAGS | re.MULTILINE)
_REFERENCE_IMAGE = re.compile(r"!\[[^\]\n]{0,200}\](?!\()")
_LINK = re.compile(
    r"(?:(?:https?|ftps?|wss?):\s*)?[/\\]{2}[^\s\"'<>\])]+|mailto:[^\s\"'<>\])]+", re.IGNORECASE
)
_SENDS = re.compile(r"\?[^\s]|^[^/]*//[^/?#]*@")
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
    return text


def _pieces(text: str, *, is_markup: bool) -> Iterator[tuple[str, str]]:
    """Yield the kind and the content of each piece."""
    plain = html.unescape(text)
    for kind, pattern in (
        ("script", _SCRIPT), ("event handler", _HANDLER), ("frame", _FRAME),
        ("refresh", _REFRESH), ("base address", _BASE), ("raw page", _RAW),
        ("office document", _OFFICE),
    ):  # fmt: skip
        for found in pattern.finditer(text):
            yield kind, found[0]
    if _CARD.search(text):
        for found in _ALARM.finditer(_FOLDED.sub("", text)):
            yield "alarm or attachment", found[0]
    for found in _SCRIPT_ADDRESS.finditer(_SKIPPED.sub("", plain)):
        yield "script address", found[0][1:]
    told: set[str] = set()
    for address in _fetched(plain, is_markup=is_markup):
        told.add(address)
        yield "remote content", address
    for found in _LINK.finditer(plain):
        address = found[0].rstrip(".,;:!")
        if address not in told and _SENDS.search(address):
            yield "link with a query", address


def _fetched(plain: str, *, is_markup: bool) -> Iterator[str]:
    """Yield the addresses that are fetched when a text is shown."""
    # Once as it is and once without the line ends that programs drop within an address.
    for text in dict.fromkeys((plain, _LINE_ENDS.sub("", plain))):
        for found in _ATTRIBUTE.finditer(text):
            for address in _ADDRESS.finditer(found[2]):
                # What stands behind the address of a link belongs to another attribute.
                if address.start() or not _is_link(text, found):
                    yield address[0]
        for found in _STYLE.finditer(text):
            yield found[1]
        yield from _document_types(text)
    if is_markup:
        for found in _MARKUP_IMAGE.finditer(plain):
            yield next(filter(None, found.groups()))
        if _REFERENCE_IMAGE.search(plain):
            for found in _REFERENCE.finditer(plain):
                yield found[1]


def _document_types(text: str) -> Iterator[str]:
    """Yield the addresses of document types, which readers of XML fetch."""
    for found in _DOCTYPE.finditer(text):
        for address in _QUOTED_ADDRESS.findall(found[0]):
            if not _KNOWN.match(address):
                yield address


_LINKS = re.compile(r"<\s*(?:\w+:)?(?:a|area)\b", re.IGNORECASE)


def _is_link(text: str, found: re.Match[str]) -> bool:
    """Return whether an attribute is the address of a link, which a person follows."""
    if found[1].lower() not in ("href", "xlink:href"):
        return False
    begins = text.rfind("<", max(0, found.start() - 2000), found.start())
    return begins >= 0 and _LINKS.match(text, begins) is not None
