"""`rpc.discover`: the OpenRPC document of all methods, their parameters, answers and errors."""

from collections.abc import Mapping
from functools import partial

import msgspec
from anyio.to_thread import run_sync

from kbd import __version__
from kbd.core.server.dispatch import Session
from kbd.requests.base import Request
from kbd.requests.daemon import RpcDiscover
from kbd.requests.openrpc import WireError, openrpc_document
from kbd.rpc import ErrorData
from kbd.rpc.parsing import Code

__all__ = ["Discovery"]

_ERRORS = (
    WireError(
        name="ParseError",
        code=Code.PARSE,
        message="The message is not JSON, or too long or too deep to be read.",
        is_of_methods=False,
    ),
    WireError(
        name="InvalidRequest",
        code=Code.INVALID_REQUEST,
        message="It is not a request, its id is in flight, or its api_version is another.",
    ),
    WireError(
        name="MethodNotFound",
        code=Code.METHOD_NOT_FOUND,
        message="There is no such method.",
        is_of_methods=False,
    ),
    WireError(
        name="InvalidParams",
        code=Code.INVALID_PARAMS,
        message="The parameters are not the method's; the message names the one that is wrong.",
    ),
    WireError(
        name="InternalError",
        code=Code.INTERNAL,
        message="kbd failed inside; its own log says how, under the reference in data.",
    ),
    WireError(
        name="ApplicationError",
        code=Code.APPLICATION,
        message="The request was understood and cannot be carried out; data says why.",
        data=ErrorData,
    ),
    WireError(
        name="Overloaded",
        code=Code.OVERLOADED,
        message="There are too many connections; try again later.",
        is_of_methods=False,
    ),
    WireError(
        name="RequestCancelled",
        code=Code.CANCELLED,
        message="The client cancelled the request with $/cancelRequest.",
    ),
)


class Discovery:
    """Answers `rpc.discover` with the OpenRPC document.

    Args:
        methods: The record of each method that is served.
    """

    def __init__(self, methods: Mapping[str, type[Request]]) -> None:
        self._methods = methods
        self._document: msgspec.Raw | None = None

    async def answer(self, _request: RpcDiscover, _session: Session) -> msgspec.Raw:
        """Return the document; it is made when it is asked for first, in a thread.

        Made at every start it would cost each start some 40 ms.
        """
        if self._document is None:
            self._document = await run_sync(partial(_encode, self._methods))
        return self._document


def _encode(methods: Mapping[str, type[Request]]) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(openrpc_document(methods, __version__, _ERRORS)))
