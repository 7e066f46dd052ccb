"""Text of a story: the body, a header, a footer or a note, with the relations of its part.

A paragraph is a line. What a person would see as something else than text stands in brackets:
[image: alt text], [page break]; what a person would not see is labeled, [hidden: …], or left out
and counted (tracked deletions). ECMA-376, part 1, 17.3.

Fields show their result: one is a mark where it begins, its instruction, a mark, its result, a mark
where it ends, and may hold others (17.16).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import msgspec
from lxml import etree

from kbd.office.paint import Verdict
from kbd.opc.package import Relation
from kbd_docx.document import (
    MC,
    PARAGRAPH,
    PIC,
    TABLE,
    VAL,
    WP,
    A,
    M,
    O,
    R,
    V,
    W,
    body_children,
    is_on,
    number,
)
from kbd_docx.reader.contents import DocxPicture
from kbd_docx.reader.drawings import (
    chart,
    drawn_picture,
    embedded_object,
    picture_label,
    vector_picture,
)
from kbd_docx.reader.findings import StoryFindings
from kbd_docx.reader.styles import BULLET
from kbd_docx.reader.symbols import linear_format, symbol_text
from kbd_docx.reader.tables import TableGrid, read_table

__all__ = ["Fields", "StoryLine", "StoryRenderer", "fetches_external", "form_value", "link_address"]


_MAX_CHARS = 4_000
"""Of an instruction; what is longer is no address."""

# Without quotes an address does not begin with a backslash, which begins a switch such as \l.
_ADDRESS = re.compile(r'\s*HYPERLINK\s+(?:"([^"]+)"|([^\s\\"]\S*))', re.IGNORECASE)
_REACHES_OUT = re.compile(
    r"\s*(INCLUDEPICTURE|INCLUDETEXT|INCLUDE|IMPORT|DDEAUTO|DDE|LINK|DATABASE|RD)\b", re.IGNORECASE
)


class _Field(msgspec.Struct):
    """A field that has begun; `start` is where in the text its instruction or result does."""

    start: int
    value: str
    instruction: list[str] = []
    has_result: bool = False


class Fields:
    """The fields that are open in a paragraph."""

    def __init__(self) -> None:
        self._open: list[_Field] = []

    def begin(self, out: list[str], value: str) -> None:
        """Open a field; `value` is shown if it turns out to have no result."""
        self._open.append(_Field(len(out), value))

    def add_instruction(self, text: str) -> None:
        """Append a piece of an instruction."""
        if self._open:
            self._open[-1].instruction.append(text)

    def separate(self, out: list[str]) -> None:
        """Begin the result; output since the beginning was instruction and is removed."""
        if self._open and not self._open[-1].has_result:
            field = self._open[-1]
            field.has_result = True
            field.start = _remove_text(out, field.start)

    def end(self, out: list[str]) -> tuple[str, int]:
        """Close a field, and return its instruction and where its result begins."""
        if not self._open:
            return "", len(out)
        field = self._open.pop()
        if not field.has_result:
            field.start = _remove_text(out, field.start)
        if field.value and not "".join(out[field.start :]).strip():
            out.append(field.value)
        return "".join(field.instruction)[:_MAX_CHARS], field.start


def _remove_text(out: list[str], start: int) -> int:
    """Remove the text from a place on, and return where it ends now."""
    # Marks of hidden runs stay whose other half stands before the text or is yet to come. Pairs go:
    # fields that nest by the thousand would have each of them copied as often.
    marks = "".join(each for each in out[start:] if each in _MARKS)
    while (shorter := _PAIR.sub("", marks)) != marks:
        marks = shorter
    out[start:] = marks
    return len(out)


def link_address(instruction: str) -> str:
    """Return the address that a link's instruction names, "" if it is no link or one within."""
    found = _ADDRESS.match(instruction)
    return (found[1] or found[2]) if found else ""


def fetches_external(instruction: str) -> bool:
    """Whether a field fetches something from outside when it is computed."""
    return _REACHES_OUT.match(instruction) is not None


def form_value(mark: etree._Element) -> str:
    """Return what a form's field shows: a ticked box, or what is chosen; "" if it is text."""
    box = mark.find(f"{W}ffData/{W}checkBox")
    if box is not None:
        state = box.find(f"{W}checked")
        return "☒" if is_on(box.find(f"{W}default") if state is None else state) else "☐"
    choice = mark.find(f"{W}ffData/{W}ddList")
    if choice is not None:
        entries = choice.findall(f"{W}listEntry")
        state = choice.find(f"{W}result")
        place = number(None if state is None else state.get(VAL), 0, 0, len(entries))
        return entries[place].get(VAL, "") if place < len(entries) else ""
    return ""


_RUN, _TEXT, _LOOK, _SETTINGS = f"{W}r", f"{W}t", f"{W}rPr", f"{W}pPr"
_FORMULA = f"{M}oMath"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"
_EXTENDED_CHART = "{http://schemas.microsoft.com/office/drawing/2014/chartex}chart"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"

_LABELS: Mapping[str, tuple[str, str]] = {
    "hidden": ("\x02", "\x03"), "maybe hidden": ("\x04", "\x05"),
}  # fmt: skip
"""The marks where a run begins and ends that gets a label: never in XML; they become labels when a
paragraph is whole."""

_MARKS = "\x02\x03\x04\x05"
_MARK = re.compile(f"[{_MARKS}]")
_PAIR = re.compile("\x02\x03|\x04\x05")
_TOUCHING = re.compile("\x03\x02|\x05\x04")
_HIDDEN = re.compile("\x02([^\x02-\x05]*)\x03|\x04([^\x02-\x05]*)\x05")
_BREAKS = {"page": "[page break]", "column": "[column break]"}
_INDENT = "  "
_MAX_ADDRESS_CHARS = 2_000
_LEFT_OUT = (
    "rPr", "pPr", "sdtPr", "sdtEndPr", "smartTagPr", "customXmlPr", "sectPr", "tblPr", "trPr",
    "tcPr", "rubyPr", "delText", "delInstrText", "fldData", "proofErr", "softHyphen",
    "bookmarkStart", "bookmarkEnd", "lastRenderedPageBreak", "footnoteRef", "endnoteRef",
    "annotationRef", "separator", "continuationSeparator",
)  # fmt: skip

Out = list[str]
_Handler = Callable[["etree._Element", Out], None]  # noqa: SLF001 - its only name


class StoryLine(NamedTuple):
    """A paragraph.

    Args:
        text: Its text; with the list's label before it, unless it is a heading.
        level: Its heading level, 0 for none.
        label: The list's label.
        layout: The layout of the pages that end with it.
    """

    text: str
    level: int
    label: str
    layout: etree._Element | None

    @property
    def labeled(self) -> str:
        """The text with the label, a heading's too."""
        return f"{self.label} {self.text}" if self.level and self.label else self.text


class StoryRenderer:
    """Renders paragraphs and tables of one part.

    Args:
        findings: What is found on the way, and what styles and lists say.
        relations: The relations of the part by id.
    """

    def __init__(self, findings: StoryFindings, relations: Mapping[str, Relation]) -> None:
        self._findings = findings
        self._relations = relations
        self._fields: Fields | None = None
        self._floating: list[str] = []
        self._frame: etree._Element | None = None
        self._handlers: dict[str, _Handler | None] = {
            **dict.fromkeys(f"{W}{name}" for name in _LEFT_OUT),
            **_PLAIN,
            _RUN: self._run,
            TABLE: lambda e, out: _add_line(self.table(e).text(), out),
            PARAGRAPH: lambda e, out: _add_line(self.paragraph(e).labeled, out),
            f"{W}ins": self._inserted,
            f"{W}moveTo": self._inserted,
            f"{W}del": self._deleted,
            f"{W}moveFrom": self._deleted,
            f"{W}hyperlink": self._link,
            f"{W}fldChar": self._field_mark,
            f"{W}instrText": self._instruction,
            f"{W}fldSimple": self._simple_field,
            f"{W}footnoteReference": lambda e, out: self._cite("footnote", "[^{}]", e, out),
            f"{W}endnoteReference": lambda e, out: self._cite("endnote", "[^e{}]", e, out),
            f"{W}commentReference": lambda e, out: self._cite("comment", "[comment {}]", e, out),
            f"{W}commentRangeStart": lambda e, out: self._findings.begin_commented(
                e.get(f"{W}id", ""), out
            ),
            f"{W}commentRangeEnd": lambda e, out: self._findings.end_commented(
                e.get(f"{W}id", ""), out
            ),
            f"{W}ruby": self._ruby,
            _FORMULA: self._formula,
            f"{W}drawing": self._drawing,
            f"{W}object": self._object,
            f"{W}txbxContent": self._text_box,
            f"{W}subDoc": self._inserted_file,
            f"{W}altChunk": self._inserted_file,
            f"{MC}AlternateContent": self._alternatives,
            f"{PIC}pic": lambda e, out: self._add_picture(
                drawn_picture(e, self._frame, self._relations), out
            ),
            f"{V}imagedata": lambda e, out: self._add_picture(
                vector_picture(e, self._relations), out
            ),
            _CHART: lambda e, out: self._chart("chart", e.get(f"{R}id"), out),
            _EXTENDED_CHART: lambda e, out: self._chart("chart", e.get(f"{R}id"), out),
            _DIAGRAM: lambda e, out: self._chart("diagram", e.get(f"{R}dm"), out),
        }

    def text(self, parent: etree._Element) -> str:
        """Return the text of all that stands in a header, a note, a cell or a text box."""
        return "\n".join(self._lines(parent))

    def table(self, element: etree._Element) -> TableGrid:
        """Return a table with the texts of its cells."""
        return read_table(element, self.text, self._findings)

    def other_text(self, element: etree._Element) -> str:
        """Return the text of what stands between paragraphs and is none, "" if it has none."""
        out: Out = []
        around, self._floating = self._floating, []
        self._render(element, out)
        text = "\n".join(filter(None, (_tidy("".join(out)), *self._floating)))
        self._floating = around
        return text

    def paragraph(self, element: etree._Element) -> StoryLine:
        """Return a paragraph as a line, and advance its list."""
        # Paragraphs nest, in text boxes and cells: what is open in the outer one goes on after
        # this.
        around = self._fields, self._floating
        self._fields, self._floating = None, []
        out: Out = []
        settings = None
        for child in element:
            tag = child.tag
            if tag == _RUN:
                self._run(child, out)
            elif tag == _SETTINGS:
                settings = child
            else:
                self._render(child, out)
        properties = self._findings.paragraph_marks(settings)
        if self._findings.is_commented:
            self._findings.end_paragraph(out)
        text = "".join(out)
        if "\n" in text or _MARK.search(text) is not None:
            text = _tidy(text)
        if self._floating:
            text = "\n".join(filter(None, (text, *self._floating)))
        self._fields, self._floating = around
        if text and properties.is_hidden:
            self._findings.notices().hidden += 1
            text = f"[hidden: {text}]"
        if properties.label and not properties.level and (text or properties.label != BULLET):
            # A number is seen where there is nothing else: many forms have rows of them.
            text = f"{_INDENT * properties.depth}{properties.label} {text}".rstrip(" ")
        if properties.breaks:
            text = f"[page break]\n{text}"
        return StoryLine(text, properties.level, properties.label, properties.layout)

    def _lines(self, parent: etree._Element) -> Iterator[str]:
        for element in body_children(parent):
            if element.tag == PARAGRAPH:
                yield self.paragraph(element).labeled
            elif element.tag == TABLE:
                yield self.table(element).text()
            elif other := self.other_text(element):
                yield other

    def _render_children(self, element: etree._Element, out: Out) -> None:
        for child in element:
            self._render(child, out)

    def _render(self, element: etree._Element, out: Out) -> None:
        """Render an element; one that is not known may hold some that are."""
        tag = element.tag
        if tag in self._handlers:
            handler = self._handlers[tag]
            if handler is not None:
                handler(element, out)
        elif isinstance(tag, str):
            self._render_children(element, out)

    def _run(self, run: etree._Element, out: Out) -> None:
        if self._findings.may_hide:
            verdict = self._findings.verdict(run)
            if verdict:
                self._labeled(verdict, run, out)
                return
        for child in run:
            tag = child.tag
            if tag == _TEXT:
                # A line end in `w:t` is a blank to programs; breaks are elements of their own.
                text = child.text
                if text:
                    out.append(text if "\n" not in text else text.replace("\n", " "))
            elif tag != _LOOK:
                self._render(child, out)

    def _labeled(self, verdict: Verdict, run: etree._Element, out: Out) -> None:
        """Render a run, or a formula, that people do not see."""
        start, end = _LABELS[verdict]
        floating, self._floating = self._floating, []
        out.append(start)
        if run.tag == _FORMULA:
            out.append(linear_format(run))
        else:
            self._render_children(run, out)
        if out[-1] != start:
            self._findings.count_unseen(verdict)
        out.append(end)
        # Boxes are moved below the paragraph, away from its marks, so each gets a label of its own;
        # the color of the run that holds one is not that of its text.
        found = self._floating
        if found and self._findings.is_left_out(run):
            found = [f"[hidden: {each}]" for each in found]
        self._floating = [*floating, *found]

    def _formula(self, formula: etree._Element, out: Out) -> None:
        """Write a formula; it is hidden where the first of its runs is that is."""
        runs = formula.iter(f"{M}r") if self._findings.may_hide else ()
        for verdict in map(self._findings.verdict, runs):
            if verdict:
                self._labeled(verdict, formula, out)
                return
        out.append(linear_format(formula))

    def _inserted(self, element: etree._Element, out: Out) -> None:
        self._findings.count_change(element, is_deletion=False)
        self._render_children(element, out)

    def _deleted(self, element: etree._Element, _: Out) -> None:
        self._findings.count_change(element, is_deletion=True)

    def _link(self, element: etree._Element, out: Out) -> None:
        start = len(out)
        self._render_children(element, out)
        relation = self._relations.get(element.get(f"{R}id", ""))
        if relation is not None and relation.external:
            anchor = element.get(f"{W}anchor")
            _add_address(relation.target + (f"#{anchor}" if anchor else ""), start, out)

    def _field_mark(self, element: etree._Element, out: Out) -> None:
        fields = self._fields = self._fields or Fields()
        match element.get(f"{W}fldCharType"):
            case "begin":
                fields.begin(out, form_value(element))
            case "separate":
                fields.separate(out)
            case "end":
                self._note_field(*fields.end(out), out)

    def _instruction(self, element: etree._Element, _: Out) -> None:
        if self._fields is not None:
            self._fields.add_instruction(element.text or "")

    def _simple_field(self, element: etree._Element, out: Out) -> None:
        start = len(out)
        self._render_children(element, out)
        self._note_field(element.get(f"{W}instr", ""), start, out)

    def _note_field(self, instruction: str, start: int, out: Out) -> None:
        """Tell what a field names outside; its result begins at `start`."""
        if fetches_external(instruction):
            self._findings.add_external("field", instruction)
        elif address := link_address(instruction):
            _add_address(address, start, out)

    def _cite(self, kind: str, form: str, element: etree._Element, out: Out) -> None:
        out.append(form.format(self._findings.cite(kind, element.get(f"{W}id", ""))))
        if kind == "comment":
            self._findings.notices().comments += 1

    def _ruby(self, element: etree._Element, out: Out) -> None:
        """Write a ruby's base, then its reading in brackets."""
        base, above = element.find(f"{W}rubyBase"), element.find(f"{W}rt")
        if base is not None:
            self._render_children(base, out)
        if above is not None:
            out.append("(")
            self._render_children(above, out)
            out.append(")")

    def _drawing(self, element: etree._Element, out: Out) -> None:
        around = self._frame
        # Pictures and charts inside take their name, words and size from the frame.
        for self._frame in element:
            shown: Out = []
            self._render_children(self._frame, shown)
            if not shown:
                shape = chart("shape", self._frame, None)
                shown += [picture_label(shape)] if shape.alt_text else []
            if shown and self._frame.tag == f"{WP}anchor":
                # It stands beside the text, not in the middle of a word.
                self._float("".join(shown), out)
            else:
                out += shown
        self._frame = around

    def _object(self, element: etree._Element, out: Out) -> None:
        """Show an object or a control once: its picture is only what it looks like."""
        found = element.find(f"{O}OLEObject")
        control = element.find(f"{W}control")
        if found is not None:
            self._add_picture(embedded_object(found, self._relations), out)
        elif control is not None:
            out.append(f"[control: {control.get(f'{W}name', '')}]")
        else:
            self._render_children(element, out)

    def _chart(self, kind: str, key: str | None, out: Out) -> None:
        relation = self._relations.get(key or "")
        content = self._findings.graphics.text(relation)
        self._add_picture(chart(kind, self._frame, relation), out, content)

    def _add_picture(self, picture: DocxPicture, out: Out, content: str = "") -> None:
        self._findings.add_picture(picture)
        out.append(picture_label(picture, content))

    def _text_box(self, element: etree._Element, out: Out) -> None:
        # What is drawn in the text of a box has a frame of its own, if any.
        around, self._frame = self._frame, None
        text = self.text(element).strip("\n")
        self._frame = around
        self._float(f"[text box: {text}]" if text.strip() else "", out)

    def _float(self, text: str, out: Out) -> None:
        """Move floating content below its paragraph."""
        if text := text.strip("\n"):
            self._floating.append(text)
        # Even an empty box is something: the alternative for older programs is not looked at.
        out.append("")

    def _inserted_file(self, element: etree._Element, out: Out) -> None:
        relation = self._relations.get(element.get(f"{R}id", ""))
        target = "" if relation is None else relation.target[:_MAX_ADDRESS_CHARS]
        self._findings.notices().inserted_files += 1
        self._findings.add_external("inserted file", target)
        out.append(f"[inserted file: {target}]")

    def _alternatives(self, element: etree._Element, out: Out) -> None:
        """Show the first alternative that shows anything."""
        before = len(out)
        for child in element:
            self._render_children(child, out)
            if len(out) > before:
                return


def _text(element: etree._Element, out: Out) -> None:
    text = element.text
    if text:
        out.append(text if "\n" not in text else text.replace("\n", " "))


def _sign(element: etree._Element, out: Out) -> None:
    out.append(symbol_text(element.get(f"{W}font", ""), element.get(f"{W}char", "")))


def _break(element: etree._Element, out: Out) -> None:
    kind = _BREAKS.get(element.get(f"{W}type", ""))
    if kind is None:
        out.append("\n")
    else:
        _add_line(kind, out)


def _word_art(element: etree._Element, out: Out) -> None:
    if text := element.get("string"):
        out.append(f"[word art: {text}]")


def _add_line(text: str, out: Out) -> None:
    """Write a text on lines of its own."""
    before = "" if not out or out[-1].endswith("\n") else "\n"
    out.append(f"{before}{text}\n")


_PLAIN: Mapping[str, _Handler] = {
    _TEXT: _text,
    f"{A}t": _text,
    f"{W}tab": lambda _, out: out.append("\t"),
    f"{W}ptab": lambda _, out: out.append("\t"),
    f"{W}cr": lambda _, out: out.append("\n"),
    f"{A}br": lambda _, out: out.append("\n"),
    f"{W}noBreakHyphen": lambda _, out: out.append("-"),
    f"{W}br": _break,
    f"{W}sym": _sign,
    f"{V}textpath": _word_art,
}


def _add_address(address: str, start: int, out: Out) -> None:
    """Write a link's address behind its text, unless that is the address."""
    text = "".join(out[start:]).strip()
    plain = address.removeprefix("mailto:").rstrip("/")
    if text and plain not in (text.rstrip("/"), f"http://{text}", f"https://{text}"):
        out.append(f" <{address[:_MAX_ADDRESS_CHARS]}>")


def _tidy(text: str) -> str:
    """Return a paragraph's text with labels around what is hidden and no blank lines around."""
    if _MARK.search(text) is not None:
        # Runs of one label that touch come under one.
        text = _HIDDEN.sub(_label_hidden, _TOUCHING.sub("", text))
        # Hidden runs may nest, in rubies, and only the inner ones were found.
        text = _MARK.sub("", text)
    return text.strip("\n")


def _label_hidden(found: re.Match[str]) -> str:
    text = found[2] if found[1] is None else found[1]
    label = "maybe hidden" if found[1] is None else "hidden"
    return f"[{label}: {text}]" if text.strip() else text
