"""Plugins that misbehave on request, a module each kind; not installed, only for tests."""

import asyncio
import os
import time
from typing import Any

__all__ = ["SECRET", "misbehave"]

SECRET = "sk-unruly-0123456789abcdef"


class OddError(BaseException):
    """No error that anybody expects."""


_RAISED: dict[str, BaseException] = {
    "raise": ValueError(SECRET),
    "exit": SystemExit(3),
    "interrupt": KeyboardInterrupt(),
    "odd": OddError(SECRET),
    "cancel": asyncio.CancelledError(),
    "group": BaseExceptionGroup("both", [ValueError(), SystemExit()]),
}


def misbehave(act: str) -> Any:
    """Do what is asked for: raise, exit, block, or return something odd."""
    if act in _RAISED:
        raise _RAISED[act]
    match act:
        case "block":
            time.sleep(3600)
        case "spin":
            while True:
                pass
        case "stubborn":
            _stubborn()
        case "stall":
            time.sleep(0.3)
        case "leave":
            os._exit(7)
        case "log":
            print(SECRET)
        case "leak":
            return [os.open("/dev/null", os.O_RDONLY) for _ in range(20)]
    return 5


def _stubborn() -> None:
    """Hide once what it is told, and block on."""
    try:
        time.sleep(3600)
    except BaseException:  # noqa: BLE001 - it is stubborn
        time.sleep(3600)
