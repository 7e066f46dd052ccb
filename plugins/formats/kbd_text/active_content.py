"""Active content of text: what is shown rendered, and formulas in what may be opened as a table.

Which kinds of text are shown how, by their names; what is found in them is that of
`kbd.plaintext`.
"""

from pathlib import PurePosixPath

from kbd.formats import Source
from kbd.formats.active import ActiveContent
from kbd.plaintext.formulas import calls_out, formula_fields
from kbd.plaintext.rendered_text import rendered_content

__all__ = ["active_content"]


def _names(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_PAGES = _names(
    ".htm .html .svg .xml .xsl .xslt .xsd .rss .atom .opml .plist .php .vue .svelte .eml .ics .vcf"
)
_MARKUP = _names(".md .markdown .rst .adoc .asciidoc .org .textile .ipynb .tex readme changelog")
_STYLES = _names(".css .scss .sass .less .styl")
_TABLES = frozenset(("", ".txt", ".text", ".log", ".out", ".err"))
"""Suffixes that spreadsheet programs open as tables, too."""


def active_content(source: Source, known: tuple[Source, ...]) -> tuple[str, ...]:
    """Return the active content of a text that none of some others has.

    Raises:
        FileReadFailed: A file cannot be read, or is too long.
    """
    return _collect(source).new_texts(map(_collect, known))


def _collect(source: Source) -> ActiveContent:
    path = PurePosixPath(source.name.lower())
    suffix = path.suffix or (path.name if path.name in _MARKUP else "")
    if suffix in _PAGES or suffix in _MARKUP or suffix in _STYLES:
        return rendered_content(source, is_markup=suffix in _MARKUP)
    found = ActiveContent()
    if suffix in _TABLES:
        for field in formula_fields(source.path):
            if calls_out(field.text):
                found.add("formula", field.text, f"line {field.line}")
    return found
