"""Plain text: what the formats that are made of it share.

`encodings` finds out how bytes are text: `wide` knows text of two and four bytes a character,
`candidates` ranks other encodings by `likelihood`, from the words of `languages` and the characters
of `ideographs`, and `signs` knows where signs stand alone; `encoding_questions` puts what was found
into the reading of a table. `lines` counts a text's lines, notes where they begin and reads a text
by them. For comparisons `differences` finds the parts in which two files differ, `stretches`
collects them within bounds, and `versions` compares what no line shows; for receipts, `receipts`
tells which lines differ. `formulas` knows what a spreadsheet program evaluates, `rendered_text`
what pages and markup run and fetch. All stream, and hold no file in memory, but for `rendered_text`
and for `merge`, which puts two sets of changed lines together. Only modules that a worker preloads
import them.
"""

from kbd.plaintext.encoding_questions import encoding_question, with_encoding
from kbd.plaintext.encodings import (
    LOW_CONFIDENCE,
    Encoding,
    RivalEncoding,
    bounded_lines,
    detect,
    open_text,
    said_encoding,
)
from kbd.plaintext.lines import (
    LINES_PER_CHUNK,
    TextFacts,
    line_chunks,
    line_passages,
    measure,
    read_lines,
)

__all__ = [
    "LINES_PER_CHUNK",
    "LOW_CONFIDENCE",
    "Encoding",
    "RivalEncoding",
    "TextFacts",
    "bounded_lines",
    "detect",
    "encoding_question",
    "line_chunks",
    "line_passages",
    "measure",
    "open_text",
    "read_lines",
    "said_encoding",
    "with_encoding",
]
