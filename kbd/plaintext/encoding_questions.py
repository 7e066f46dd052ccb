"""Encoding of a table as its reading tells it, and as a question where it is too unsure. Pure."""

import msgspec

from kbd.formats.table_reading import ReadingOption, ReadingQuestion, TableReading
from kbd.plaintext.encodings import LOW_CONFIDENCE, Encoding

__all__ = ["encoding_question", "with_encoding"]


def with_encoding(reading: TableReading, encoding: Encoding) -> TableReading:
    """Return a reading with how the file's bytes were read, and the question about it, if any."""
    question = encoding_question(encoding)
    return msgspec.structs.replace(
        reading,
        encoding=encoding.name,
        encoding_confidence=encoding.confidence,
        encoding_reason=encoding.reason,
        questions=(*reading.questions, question) if question else reading.questions,
    )


def encoding_question(encoding: Encoding) -> ReadingQuestion | None:
    """Return the question in which encoding a file is, or None where its letters are sure enough.

    It is asked below `LOW_CONFIDENCE`, and only where another encoding gives other letters. Above,
    a rival is a warning: letters are no figures.
    """
    if encoding.confidence >= LOW_CONFIDENCE or not encoding.rivals:
        return None
    # An option for each: the encoding that was chosen shows all words that others give otherwise.
    words = ", ".join(dict.fromkeys(rival.word for rival in encoding.rivals))
    rivals = (ReadingOption(rival.name, rival.instead) for rival in encoding.rivals)
    options = (ReadingOption(encoding.name, words), *rivals)
    readings = " or ".join(f"{each.meaning} ({each.value})" for each in options)
    return ReadingQuestion(
        about="encoding",
        columns=(),
        text=f"Which letters are right: {readings}?",
        options=options,
    )
