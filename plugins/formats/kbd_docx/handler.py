"""Format handler: the declaration of the format, with the table of functions that do its work."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import msgspec

from kbd.formats import (
    Applied,
    Comparable,
    CompareOptions,
    Comparison,
    Composed,
    Inspectable,
    Place,
    Printable,
    Reading,
    Region,
    Relocatable,
    Relocation,
    Source,
    Trace,
)
from kbd.office.handler import OfficeFormat
from kbd_docx.operations import OPERATIONS

__all__ = ["DocxFormat"]


class DocxFormat(OfficeFormat, Composed, Comparable, Printable, Relocatable, Inspectable):
    """Documents, whoever made them: mapped, read, compared, and edited without a loss."""

    name = "docx"
    wire_name = "Docx"
    kind = "document"
    suffixes: ClassVar[Mapping[str, str]] = {
        ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ".docm": "application/vnd.ms-word.document.macroEnabled.12",
        ".dotx": "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
        ".dotm": "application/vnd.ms-word.template.macroEnabled.12",
    }
    functions: ClassVar[Mapping[str, str]] = {
        "info": "kbd_docx.reader.document_map:facts",
        "map": "kbd_docx.reader.document_map:document_map",
        "read": "kbd_docx.reader.regions:read_region",
        "objects": "kbd_docx.reader.regions:read_objects",
        "passages": "kbd_docx.reader.regions:passages",
        "apply": "kbd_docx.stretches:apply",
        "active_content": "kbd_docx.active_content:active_content",
        "receipt_facts": "kbd_docx.receipt:receipt_facts",
        "get_styles": "kbd_docx.styles.style_list:get_styles",
        "copy_assets": "kbd_docx.assets.copy_assets:copy_assets",
        "compare": "kbd_docx.comparison.document_comparison:compare",
        "trace": "kbd_docx.comparison.place_traces:trace",
        "locate": "kbd_docx.comparison.document_comparison:locate",
        "relocate": "kbd_docx.relocation:relocate",
    }
    shifting: ClassVar[tuple[str, ...]] = (
        "set_paragraphs",
        "append_paragraph",
        "insert_paragraph",
        "delete_paragraphs",
        "add_table",
        "accept_changes",
        "reject_changes",
        "fill_template",
        "insert_table_rows",
        "delete_table_rows",
        "insert_table_columns",
        "delete_table_columns",
        "merge_table_cells",
        "split_table_cell",
        "add_image",
        "add_field",
        "append_document",
    )
    guidance = (
        "Look at the map first: it lists sections with their sizes, tables and images; then "
        "read_file with section (a heading, or its index from 0) and, for a long one, chunk. "
        "Paragraphs are numbered from 1 as the map numbers them, tables from 0. The # of headings, "
        "numbers and bullets of lists, bars between cells, [labels] and <addresses> are how text "
        "is shown, not part of it: leave them out of what replace_text searches. replace_text "
        "keeps the formatting and tells how often it replaced; set_paragraphs replaces the whole "
        "body. Tables: add_table takes header, column_widths and alignments (figures right); rows "
        "and columns go in and out by insert_table_rows and the like, and like: N makes a row or "
        "a paragraph look like another one. Copied headers go into all sections of pages or into "
        "target section:0, images to the end or after target paragraph:12; styles can be put on "
        "target paragraph:3-7 or table:0. "
        "With track_changes people can accept or reject what an operation changed; texts in maps "
        "and readings are as if all tracked changes were accepted; the warnings of readings show "
        "paragraphs with what was [deleted by Ann: …] and [inserted by Ann: …]. "
        "Comments are numbered as [comment 2] shows them; the map lists content controls "
        "by tag, comments, tracked changes, and formatting that paragraphs have directly. Items of "
        "lists have list and level. Words inside a paragraph are named by search. A template "
        "with {{name}} is filled by fill_template."
    )
    style_file = "style.md"
    style_words = (
        "word document", "word file", "memo", "memos", "memorandum", "letter", "letters", "report",
        "reports", "minutes", "proposal", "proposals",
    )  # fmt: skip
    coordinates: ClassVar[tuple[str, ...]] = ("section", "chunk")
    wire_methods = ("ApplyOps", "CopyAssets", "ExtractText", "GetMap", "GetStyles")
    wire_reads: ClassVar[Mapping[str, tuple[str, ...]]] = {"GetSectionContent": coordinates}
    print_filters: ClassVar[Mapping[str, str]] = {".pdf": "writer_pdf_Export"}
    print_notes: ClassVar[tuple[str, ...]] = (
        "Comments are not printed; changes that are tracked are, with their marks.",
    )
    compare_method = "DocxContentDiff"
    operations: ClassVar[tuple[type[msgspec.Struct], ...]] = OPERATIONS
    aliases: ClassVar[Mapping[str, str]] = {"find": "search"}

    def objects(self, source: Source, region: Region) -> Reading:
        """Return the text of a region with the tables, images and shapes in it."""
        found: Reading = self.function("objects")(source, region)
        return found

    def active_content(self, source: Source, known: tuple[Source, ...]) -> tuple[str, ...]:
        """Return what a file refers to, runs, fetches or embeds."""
        found: tuple[str, ...] = self.function("active_content")(source, known)
        return found

    def apply_with_files(
        self,
        source: Source | None,
        operations: tuple[msgspec.Struct, ...],
        target: Path,
        files: Mapping[str, Source],
    ) -> Applied:
        """Apply operations that put in pictures or documents of the workbench."""
        found: Applied = self.function("apply")(source, operations, target, files)
        return found

    def compare(
        self, before: Source | None, after: Source | None, options: CompareOptions
    ) -> Comparison:
        """Return what differs between two versions of a document."""
        found: Comparison = self.function("compare")(before, after, options)
        return found

    def trace(
        self, before: Source, after: Source, places: tuple[Place, ...], *, forward: bool
    ) -> tuple[Trace, ...]:
        """Return where places of one version stand in the other."""
        found: tuple[Trace, ...] = self.function("trace")(before, after, places, forward=forward)
        return found

    def locate(self, source: Source, text: str) -> Place:
        """Return the place that a text means."""
        found: Place = self.function("locate")(source, text)
        return found

    def relocate(
        self, operations: tuple[msgspec.Struct, ...], before: Source, after: Source
    ) -> Relocation:
        """Carry operations over to a version in which things stand elsewhere."""
        found: Relocation = self.function("relocate")(operations, before, after)
        return found
