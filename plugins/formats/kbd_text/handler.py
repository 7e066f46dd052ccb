"""The declaration of the format; the work is in `text_map`, which the worker loads once.

The suffixes and whole names that are plain text, with their MIME types.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from kbd.errors import ValidationFailed
from kbd.formats import (
    Comparable,
    CompareOptions,
    Comparison,
    FormatHandler,
    Inspectable,
    Mappable,
    Mergeable,
    Merged,
    Passage,
    Place,
    Placement,
    Readable,
    ReadAs,
    Reading,
    Receiptable,
    Region,
    Source,
    Table,
    Tabular,
    Trace,
    Written,
)

__all__ = ["SUFFIXES", "TextFormat"]

_TYPED = {
    ".css": "text/css",
    ".eml": "message/rfc822",
    ".htm": "text/html",
    ".html": "text/html",
    ".ics": "text/calendar",
    ".js": "text/javascript",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".markdown": "text/markdown",
    ".md": "text/markdown",
    ".mjs": "text/javascript",
    ".ndjson": "application/jsonl",
    ".php": "application/x-httpd-php",
    ".py": "text/x-python",
    ".rst": "text/x-rst",
    ".sh": "application/x-sh",
    ".sql": "application/sql",
    ".svg": "image/svg+xml",
    ".tex": "application/x-tex",
    ".toml": "application/toml",
    ".ts": "text/x-typescript",
    ".vcf": "text/vcard",
    ".xml": "application/xml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}

_PLAIN = (
    # Notes, settings and logs.
    ".txt .text .log .out .err .diff .patch .adoc .asciidoc .org .textile .srt .vtt .bib .po .pot "
    ".ini .cfg .conf .cnf .config .properties .env .editorconfig .gitignore .gitattributes .lock "
    ".geojson .json5 .har .ipynb .xsd .xsl .xslt .dtd .plist .rss .atom .opml .graphql .proto .tf "
    ".hcl .nix .cmake .mk .gradle .bazel .service .ldif .reg "
    # Code.
    ".c .h .cc .cpp .cxx .hpp .hh .cs .java .kt .kts .scala .groovy .go .rs .swift .m .mm .dart "
    ".pyi .pyx .rb .pl .pm .lua .r .jl .hs .ml .mli .fs .fsx .ex .exs .erl .hrl .clj .cljs .lisp "
    ".el .scm .zig .nim .v .sv .vhd .asm .s .f .f90 .pas .ada .cob .bas .vb .vbs .bat .cmd .ps1 "
    ".bash .zsh .fish .awk .sed .jsx .tsx .cjs .vue .svelte .scss .sass .less .styl .coffee .cls "
    ".sty .dockerfile "
    # Names without a suffix.
    "makefile dockerfile readme license licence copying changelog notice authors todo"
)

SUFFIXES = dict(sorted({**dict.fromkeys(_PLAIN.split(), "text/plain"), **_TYPED}.items()))
"""Lower-case suffixes, and names of files that have none, with their MIME types."""


class TextFormat(
    FormatHandler, Mappable, Readable, Tabular, Comparable, Receiptable, Mergeable, Inspectable
):
    """Plain text by lines; written whole by `write_text_file`, so it is not `Editable`.

    Lists of records in JSON are tables.
    """

    name = "text"
    wire_name = "Text"
    kind = "text"
    suffixes = SUFFIXES
    preload = (
        "kbd_text.text_map",
        "kbd_text.json_tables",
        "kbd_text.active_content",
        "kbd_text.comparison.changes",
        "kbd_text.comparison.places",
        "kbd.plaintext.receipts",
        "kbd.plaintext.merge",
    )
    guidance = (
        "Text is read by lines: line_start is 1-based, line_count is how many. The map gives the "
        "number of lines and chunks of 200; without coordinates a long file gives its first chunk. "
        "For JSON the map tells what is at the top; the table tools take lists of records, and "
        "files with one a line. Where it says looks_like table, the text has rows: write it to a "
        ".csv file to use the table tools."
    )
    coordinates: ClassVar[tuple[str, ...]] = ("line_start", "line_count")
    table_suffixes = (".json", ".jsonl", ".ndjson")
    writes_tables = False
    compare_method = "TextDiff"
    compare_options = ("context_lines",)
    wire_methods = ("GetMap",)
    wire_reads: ClassVar[Mapping[str, tuple[str, ...]]] = {"ReadLines": coordinates}

    def map(self, source: Source) -> dict[str, Any]:
        """Return line_count, char_count, encoding and chunks; for JSON its top level and keys."""
        from kbd_text import text_map  # noqa: PLC0415 - 100 ms for charset-normalizer

        return text_map.text_map(source)

    def active_content(self, source: Source, known: tuple[Source, ...]) -> tuple[str, ...]:
        """Return scripts, remote content and links with a query of text that is shown rendered."""
        from kbd_text import active_content  # noqa: PLC0415 - 100 ms for charset-normalizer

        return active_content.active_content(source, known)

    def read(self, source: Source, region: Region) -> Reading:
        """Return lines; of a long file without coordinates its first 200."""
        from kbd_text import text_map  # noqa: PLC0415 - 100 ms for charset-normalizer

        return text_map.read_lines(source, region)

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield the text in pieces of up to 200 lines."""
        from kbd_text import text_map  # noqa: PLC0415 - 100 ms for charset-normalizer

        return text_map.passages(source)

    def read_table(self, source: Source, sheet: str | None, read_as: ReadAs, target: Path) -> Table:
        """Write the records of a JSON file as rows; `sheet` is the key of their list."""
        from kbd_text import json_tables  # noqa: PLC0415 - 100 ms, as above

        return json_tables.read_table(source, sheet, read_as, target)

    def write_table(
        self, source: Source | None, rows: Path, placement: Placement, target: Path
    ) -> Written:
        """Refuse: text is written whole by `write_text_file`."""
        del source, rows, placement, target
        raise ValidationFailed("tables are not written as text; write a .csv file")

    def compare(
        self, before: Source | None, after: Source | None, options: CompareOptions
    ) -> Comparison:
        """Return hunks, and the lines that were changed, added, removed or moved."""
        from kbd_text.comparison import changes  # noqa: PLC0415 - 100 ms for charset-normalizer

        return changes.compare(before, after, options)

    def trace(
        self, before: Source, after: Source, places: tuple[Place, ...], *, forward: bool
    ) -> tuple[Trace, ...]:
        """Follow lines through what was inserted, removed and moved."""
        from kbd_text.comparison import places as lines  # noqa: PLC0415 - 100 ms, as above

        return lines.trace(before, after, places, forward=forward)

    def receipt_facts(
        self, versions: tuple[Source | None, ...], steps: tuple[int, ...], limit: int
    ) -> dict[str, Any]:
        """Return which lines differ."""
        from kbd.plaintext import receipts  # noqa: PLC0415 - 100 ms, as above

        return receipts.line_facts(versions, steps, limit)

    def locate(self, source: Source, text: str) -> Place:
        """Understand "line 12", "lines 3-5", "L12" and "12"."""
        from kbd_text.comparison import places as lines  # noqa: PLC0415 - 100 ms, as above

        return lines.locate(source, text)

    def merge(self, base: Source, ours: Source, theirs: Source, target: Path) -> Merged:
        """Merge the lines of two versions."""
        from kbd.plaintext import merge  # noqa: PLC0415 - 100 ms for charset-normalizer

        return merge.merge_files(base, ours, theirs, target)
