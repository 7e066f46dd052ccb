"""Parsing of JSON-RPC 2.0, read strictly: a message's bytes become a request, or a refusal.

A message's raw bytes are checked first, before anything of it is built in memory: a megabyte of
`[],` costs nothing to send and hundreds of megabytes to parse. Both checks (`shape_fault`) run at
the speed of a byte search.

The method's name is the tag of a record, so that one typed decoding dispatches and validates. What
that refuses is read a second time, slowly, to say exactly what is wrong.

Where JSON-RPC leaves a choice: an id is a string of at most 128 characters or an integer that every
JSON reader keeps exact; parameters are an object, where `null` and `[]` are none at all (so do some
clients say it); a key that occurs twice counts as it occurs last; an `api_version`, beside the
method or among its parameters, must be the daemon's own (-32600).
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Annotated, Any, Literal, TypeVar, Union

import msgspec

__all__ = [
    "BATCH_MESSAGES",
    "MAX_NESTING",
    "MAX_PARTS",
    "MAX_VALUES",
    "Batch",
    "Cancel",
    "Code",
    "MessageId",
    "Parsed",
    "Parser",
    "Refusal",
    "RpcCall",
    "shape_fault",
]

MAX_NESTING = 64
"""The deepest nesting of arrays and objects, by default."""

MAX_PARTS = 100_000
"""The most arrays and objects in a message (reliability.md 4), those inside of text not counted."""

MAX_VALUES = 200_000
"""The most commas outside of text in a message.

Reliability 4 has 100,000 with the arrays and objects, for a message of 1 MiB. Each can cost a key
and its value, 200 ns and 100 bytes and more: so many take 40 ms and some 30 MB.
"""

_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_NOT_STRUCTURE = bytes(byte for byte in range(256) if byte not in b'[]{}",')


def shape_fault(
    raw: bytes,
    *,
    nesting: int = MAX_NESTING,
    parts: int = MAX_PARTS,
    values: int = MAX_VALUES,
) -> str | None:
    """Return what is wrong with a message's shape, or None.

    Args:
        raw: The message.
        nesting: The deepest nesting that is allowed.
        parts: The most arrays and objects that are allowed.
        values: The most commas outside of text that are allowed.
    """
    # Between systems JSON is UTF-8 (RFC 8259, section 8.1), whatever other encoding a parser
    # guesses.
    if not raw.isascii():
        try:
            raw.decode()
        except UnicodeDecodeError as error:
            return f"not valid UTF-8 at byte {error.start}"
    # What has that few brackets cannot be too deep: nearly every message stops here.
    is_flat = raw.count(b"[") + raw.count(b"{") <= nesting
    if is_flat and raw.count(b",") <= values:
        return None
    structure = _structure(raw, parts + values)
    if structure is None or structure.count(b",") > values:
        return f"more than {values} values"
    brackets = structure.replace(b",", b"")
    if brackets.count(b"[") > parts:
        return f"more than {parts} arrays and objects"
    for _ in range(nesting):
        # Each round takes the innermost pairs away, so as many rounds as levels leave nothing.
        brackets = brackets.replace(b"[]", b"")
    return f"nested deeper than {nesting}, or brackets that do not match" if brackets else None


def _structure(raw: bytes, most: int) -> bytes | None:
    """Return the commas and brackets outside of text, all as `[` and `]`; None if far too many."""
    if b"\\" in raw:
        # Backslashes first, or an escaped one that ends a text would seem to escape its quote.
        raw = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    bare = raw.translate(_ONE_KIND, _NOT_STRUCTURE).replace(b'""', b"")
    # Each value brings two texts at most, its key and itself. The split below makes an object a
    # quote, so their number is bounded before.
    if bare.count(b'"') > 4 * (most + 1):
        return None
    return b"".join(bare.split(b'"')[::2])


_T = TypeVar("_T")

BATCH_MESSAGES = 100
"""The most messages in a batch, by default."""

# JSON-RPC 2.0, section 4: no fractions, and null only for an id that is not known. The bound is
# that of RFC 8259, section 6, within which every reader agrees on an integer.
MessageId = (
    Annotated[int, msgspec.Meta(gt=-(2**53), lt=2**53)]
    | Annotated[str, msgspec.Meta(max_length=128)]
)
"""Names a request, and its answer."""

_NO_PARAMS = (b"null", b"[]")

_LONGEST_REASON = 300
"""Characters of a reason: what a client sent may be quoted in it."""


class Code(IntEnum):
    """The codes of errors on the wire."""

    # JSON-RPC 2.0, section 5.1: these five are its own, and -32000 to -32099 are the server's to
    # give. -32800 is LSP's code for a request that was canceled.
    PARSE = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL = -32603
    APPLICATION = -32000
    OVERLOADED = -32001
    CANCELLED = -32800


class RpcCall(msgspec.Struct, frozen=True, kw_only=True):
    """A request to be answered, or (without an id) one that is only carried out.

    Args:
        params: The request's record.
        id: What its answer will carry.
        api_version: The contract that the client was written for.
    """

    jsonrpc: Literal["2.0"]
    params: Any
    id: MessageId | msgspec.UnsetType = msgspec.UNSET
    api_version: str | int | msgspec.UnsetType = msgspec.UNSET


class Cancel(msgspec.Struct, frozen=True):
    """The client no longer wants the answer of this request."""

    id: MessageId


class Refusal(msgspec.Struct, frozen=True):
    """A message that cannot be carried out.

    Args:
        id: Its id, or None where that cannot be told.
        code: Why, for programs.
        message: Why, for people.
        data: Facts about it.
    """

    id: int | str | None
    code: int
    message: str
    data: Any = None


class Batch(msgspec.Struct, frozen=True):
    """Several messages that are answered together."""

    parts: tuple[RpcCall | Cancel | Refusal, ...]


Parsed = RpcCall | Cancel | Refusal | Batch | None
"""What a message can be; None is one that wants no answer and asks for nothing we know."""


class _Envelope(msgspec.Struct):
    """A message taken apart, its members unread."""

    jsonrpc: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    method: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    id: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    params: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    api_version: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Versioned(msgspec.Struct):
    """Parameters, read for their version only."""

    api_version: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _CancelParams(msgspec.Struct):
    """The parameters of `$/cancelRequest`."""

    id: MessageId


class _RefusedError(Exception):
    """Carries a refusal out of the slow reading."""

    def __init__(self, code: Code, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


_UNSET = msgspec.UNSET
_envelope = msgspec.json.Decoder(_Envelope)
_versioned = msgspec.json.Decoder(_Versioned)
_cancel = msgspec.json.Decoder(_CancelParams)
_id: msgspec.json.Decoder[int | str] = msgspec.json.Decoder(MessageId)
_method = msgspec.json.Decoder(str)
_raw_list = msgspec.json.Decoder(list[msgspec.Raw])


# Not a library: jsonrpcserver answers 6,900 requests a second, python-lsp-jsonrpc 84,000, and typed
# decoding by msgspec 489,000 (facts/performance.md C).
class Parser:
    """Reads messages for one table of methods.

    Args:
        methods: The record of each method; each has a field `api_version`.
        api_version: The only version that is served.
        nesting: The deepest nesting of a message.
        parts: The most arrays and objects in a message.
        values: The most commas outside of text in a message.
        batch: The most messages in a batch.
    """

    def __init__(
        self,
        methods: Mapping[str, type[msgspec.Struct]],
        *,
        api_version: str = "1",
        nesting: int = MAX_NESTING,
        parts: int = MAX_PARTS,
        values: int = MAX_VALUES,
        batch: int = BATCH_MESSAGES,
    ) -> None:
        self._expected = api_version
        self._nesting = nesting
        self._parts = parts
        self._values = values
        self._batch = batch
        self._params = {name: msgspec.json.Decoder(kind) for name, kind in methods.items()}
        calls = tuple(_call_type(name, kind) for name, kind in methods.items())
        decoder: msgspec.json.Decoder[RpcCall] = msgspec.json.Decoder(Union[calls])  # noqa: UP007 - made at run time
        self._decode_call = decoder.decode

    def parse(self, raw: bytes) -> Parsed:
        """Read one message; whatever it holds, this returns and raises nothing."""
        # What is plainly harmless is not looked at twice: a level takes two bytes, so that a short
        # message needs no counting.
        size = len(raw)
        if (
            not raw.isascii()
            or (size > 2 * self._nesting and raw.count(b"{") + raw.count(b"[") > self._nesting)
            or (size > self._values and raw.count(b",") > self._values)
        ):
            fault = shape_fault(raw, nesting=self._nesting, parts=self._parts, values=self._values)
            if fault is not None:
                return Refusal(None, Code.PARSE, f"parse error: {fault}")
        try:
            call = self._decode_call(raw)
        except msgspec.DecodeError:
            if raw.lstrip()[:1] == b"[":
                return self._parse_batch(raw)
            return self._parse_slowly(raw)
        if call.api_version is _UNSET and call.params.api_version is _UNSET:
            return call
        return self._parse_slowly(raw)

    def _parse_batch(self, raw: bytes) -> Batch | Refusal:
        try:
            items = _raw_list.decode(raw)
        except msgspec.DecodeError as error:
            return Refusal(None, Code.PARSE, f"parse error: {error}")
        # JSON-RPC 2.0, section 6: an empty array is an invalid request, answered once and not as a
        # batch.
        if not 0 < len(items) <= self._batch:
            return Refusal(None, Code.INVALID_REQUEST, f"a batch has 1 to {self._batch} messages")
        parsed = (self._parse_slowly(bytes(item)) for item in items)
        # A part that is a notification has no answer in the array (section 6).
        return Batch(tuple(part for part in parsed if part is not None))

    def _parse_slowly(self, raw: bytes) -> RpcCall | Cancel | Refusal | None:
        try:
            envelope = _envelope.decode(raw)
        except msgspec.ValidationError:
            return Refusal(None, Code.INVALID_REQUEST, "a message is an object")
        except msgspec.DecodeError as error:
            return Refusal(None, Code.PARSE, f"parse error: {error}")
        message_id: int | str | None = None
        is_notification = envelope.id is msgspec.UNSET
        try:
            # The id first: whatever else is wrong is answered under it.
            if isinstance(envelope.id, msgspec.Raw):
                message_id = _read_id(envelope.id)
            method = _read_method(envelope)
        except _RefusedError as refused:
            # Also without an id: what has no valid method is no notification (section 7, its
            # example of an invalid request).
            return Refusal(message_id, refused.code, refused.message, refused.data)
        try:
            return self._read_call(method, envelope, message_id)
        except _RefusedError as refused:
            # Section 4.1: a notification is not answered, not even to say that its parameters are
            # wrong.
            if is_notification:
                return None
            return Refusal(message_id, refused.code, refused.message, refused.data)

    def _read_call(
        self, method: str, envelope: _Envelope, message_id: int | str | None
    ) -> RpcCall | Cancel:
        params = bytes(envelope.params) if isinstance(envelope.params, msgspec.Raw) else b"{}"
        if params in _NO_PARAMS:
            params = b"{}"
        if params.lstrip()[:1] != b"{":
            raise _RefusedError(Code.INVALID_PARAMS, "invalid params: they are an object")
        # The method and its parameter are LSP's.
        if method == "$/cancelRequest":
            return Cancel(_decode(_cancel, params).id)
        self._check_version(envelope.api_version)
        self._check_version(_decode(_versioned, params).api_version)
        decoder = self._params.get(method)
        if decoder is None:
            # The message is printed in terminals: `_printable`.
            shown = method if method.isprintable() and len(method) <= 80 else "of that name"
            raise _RefusedError(Code.METHOD_NOT_FOUND, f"method not found: {shown}")
        record = _decode(decoder, params)
        if message_id is None:
            return RpcCall(jsonrpc="2.0", params=record)
        return RpcCall(jsonrpc="2.0", params=record, id=message_id)

    def _check_version(self, found: msgspec.Raw | msgspec.UnsetType) -> None:
        if isinstance(found, msgspec.Raw) and bytes(found) != b'"%b"' % self._expected.encode():
            raise _RefusedError(
                Code.INVALID_REQUEST, "incompatible api_version", {"expected": self._expected}
            )


def _printable(text: str) -> str:
    """Return a text without what acts in a terminal, where messages are printed.

    msgspec quotes in its errors the names of fields that a client made up.
    """
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def _call_type(name: str, params: type[msgspec.Struct]) -> type[RpcCall]:
    """Return `RpcCall` for one method; if all parameters are optional they may be absent."""
    field: tuple[Any, ...] = ("params", params)
    if not any(part.required for part in msgspec.structs.fields(params)):
        field = (*field, params())
    made = msgspec.defstruct(
        f"{name}Call",
        [field],
        bases=(RpcCall,),
        tag_field="method",
        tag=name,
        frozen=True,
        kw_only=True,
    )
    assert issubclass(made, RpcCall)
    return made


def _read_id(raw: msgspec.Raw) -> int | str:
    try:
        return _id.decode(raw)
    except msgspec.DecodeError:
        message = "an id is a string of at most 128 characters or an integer below 2**53"
        raise _RefusedError(Code.INVALID_REQUEST, message) from None


def _read_method(envelope: _Envelope) -> str:
    if not isinstance(envelope.jsonrpc, msgspec.Raw) or bytes(envelope.jsonrpc) != b'"2.0"':
        raise _RefusedError(Code.INVALID_REQUEST, 'invalid request: jsonrpc is not "2.0"')
    try:
        if isinstance(envelope.method, msgspec.Raw):
            return _method.decode(envelope.method)
    except msgspec.DecodeError:
        pass  # answered like one that is missing
    raise _RefusedError(Code.INVALID_REQUEST, "invalid request: method is not a string")


def _decode(decoder: msgspec.json.Decoder[_T], params: bytes) -> _T:
    try:
        return decoder.decode(params)
    except msgspec.ValidationError as error:
        # msgspec names the place of the fault where it is not the object itself.
        _, named, path = str(error).rpartition(" - at ")
        message = f"invalid params: {_printable(str(error)[:_LONGEST_REASON])}"
        data = {"path": _printable(path.strip("`")[:_LONGEST_REASON])} if named else None
        raise _RefusedError(Code.INVALID_PARAMS, message, data) from None
    except msgspec.DecodeError as error:
        raise _RefusedError(Code.PARSE, f"parse error: {error}") from None
