"""JSON-RPC 2.0 without any I/O: bytes in, messages out, and back.

    framing    where one message ends and the next begins
    parsing    bytes become a request's record, or a refusal that says what is wrong; what costs
               too much to build in memory is refused before
    encoding   answers, errors and notifications become bytes

Nothing here knows a method; the table of their records is an argument.
"""

from kbd.rpc.encoding import ErrorData, answer, batch, failure, notification, refusal
from kbd.rpc.framing import MESSAGE_BYTES, Framer, FramingError
from kbd.rpc.parsing import (
    BATCH,
    NESTING,
    PARTS,
    Batch,
    Call,
    Cancel,
    Code,
    MessageId,
    Parsed,
    Parser,
    Refusal,
    shape_fault,
)

__all__ = [
    "BATCH",
    "MESSAGE_BYTES",
    "NESTING",
    "PARTS",
    "Batch",
    "Call",
    "Cancel",
    "Code",
    "ErrorData",
    "Framer",
    "FramingError",
    "MessageId",
    "Parsed",
    "Parser",
    "Refusal",
    "answer",
    "batch",
    "failure",
    "notification",
    "refusal",
    "shape_fault",
]
