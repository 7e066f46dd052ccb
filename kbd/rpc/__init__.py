"""JSON-RPC 2.0 without any I/O: bytes in, messages out, and back.

    framing    where one message ends and the next begins
    parsing    bytes become a request's record, or a refusal that says what is wrong; what costs
               too much to build in memory is refused before
    encoding   answers, errors and notifications become bytes

Nothing here knows a method; the table of their records is an argument.
"""

from kbd.rpc.encoding import (
    ErrorData,
    encode_answer,
    encode_batch,
    encode_failure,
    encode_notification,
    encode_refusal,
)
from kbd.rpc.framing import MESSAGE_BYTES, Framer, FramingError
from kbd.rpc.parsing import (
    BATCH_MESSAGES,
    MAX_NESTING,
    MAX_PARTS,
    MAX_VALUES,
    Batch,
    Cancel,
    Code,
    MessageId,
    Parsed,
    Parser,
    Refusal,
    RpcCall,
    shape_fault,
)

__all__ = [
    "BATCH_MESSAGES",
    "MAX_NESTING",
    "MAX_PARTS",
    "MAX_VALUES",
    "MESSAGE_BYTES",
    "Batch",
    "Cancel",
    "Code",
    "ErrorData",
    "Framer",
    "FramingError",
    "MessageId",
    "Parsed",
    "Parser",
    "Refusal",
    "RpcCall",
    "encode_answer",
    "encode_batch",
    "encode_failure",
    "encode_notification",
    "encode_refusal",
    "shape_fault",
]
