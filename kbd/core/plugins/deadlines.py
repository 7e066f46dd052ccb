"""Deadlines of code that only declares: a plugin's import, its hooks, what it says of itself."""

import ctypes
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from kbd.core.plugins.hooks import PluginError

__all__ = ["HOOK_S", "LOAD_S", "call_within"]

T = TypeVar("T")

HOOK_S = 2.0
"""A hook only declares (reliability, F13)."""

LOAD_S = 20.0
"""The import of a package: what is large is to be imported with the first call, but often is not,
and the first import after an installation compiles it."""


def call_within(limit_s: float, function: Callable[..., T], *arguments: Any) -> T:
    """Call a function of a plugin in a thread of its own, and wait for it so long at most.

    A thread cannot be ended from outside; one that is late is asked to end, which it does unless it
    waits in C or will not. Nobody waits for it any more.

    Raises:
        PluginError: It is late, or raised what is for kbd to raise (KeyboardInterrupt).
        Exception: What it raised, SystemExit included.
    """
    made: list[T] = []
    raised: list[BaseException] = []

    def work() -> None:
        try:
            made.append(function(*arguments))
        except BaseException as fault:  # noqa: BLE001 - raised again where it was called from
            raised.append(fault)

    thread = threading.Thread(target=work, name="plugin", daemon=True)
    thread.start()
    thread.join(limit_s)
    if made:
        return made[0]
    if not raised:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit)
        )
        msg = f"it took more than {limit_s:g} s"
        raise PluginError(msg)
    if isinstance(raised[0], Exception | SystemExit):
        raise raised[0]
    raise PluginError(type(raised[0]).__name__)
