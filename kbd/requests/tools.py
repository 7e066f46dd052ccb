"""Requests about tools: which there are, and a call of one by a client.

A tool may have a method of its own, whose record is derived from `CallReadingTool` or
`CallWritingTool` and has its arguments as parameters; it joins the others when the daemon starts.
"""

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from kbd.requests.base import UNSET, Answer, Request, Unset, WorkbenchParam

__all__ = [
    "CallReadingTool",
    "CallWritingTool",
    "ToolArgument",
    "ToolRequest",
    "ToolRow",
    "ToolsCall",
    "ToolsFound",
    "ToolsList",
]


class ToolArgument(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An argument of a tool.

    Args:
        type: "str", "int", "float", "bool", "list" or "dict"; several are joined by " | ".
        required: Whether a call must give it.
        default: What it is otherwise.
    """

    type: str
    required: bool = False
    default: Any = UNSET


class ToolRow(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that a model or a client may call.

    Args:
        name: As the model sees it.
        description: What it does, as the model is told.
        args: Its arguments by name.
        effect: What it does to the workbench: "read", "recall" or "write".
        phases: In which phases of a run it may be called.
        plugin: The plugin that brings it.
        input_schema: Its arguments as a JSON schema.
    """

    name: str
    description: str
    args: dict[str, ToolArgument]
    effect: str
    phases: tuple[str, ...]
    plugin: str
    input_schema: dict[str, Any]


class ToolsFound(Answer):
    """All tools, sorted by name."""

    tools: tuple[ToolRow, ...]


class ToolsList(Request):
    """List the tools that models and clients may call.

    Args:
        workbench_id: The workbench that they are wanted for; every one has the same.
    """

    answer: ClassVar[type[Any]] = ToolsFound
    subject: ClassVar[str] = "tools"

    workbench_id: WorkbenchParam | Unset = UNSET


class ToolsCall(Request):
    """Call a tool, as a model would; what it writes goes into the draft, and is recorded.

    Args:
        name: The tool.
        arguments: Its arguments, as its schema says.
    """

    answer: ClassVar[type[Any]] = msgspec.Raw
    subject: ClassVar[str] = "tools"

    workbench_id: WorkbenchParam
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)


class CallReadingTool(Request):
    """Ask a tool that reads, with its arguments as parameters.

    Args:
        root: Which version of the files; the draft's if one is open, else the published one.
    """

    answer: ClassVar[type[Any]] = dict[str, Any]
    subject: ClassVar[str] = "file"

    workbench_id: WorkbenchParam
    root: Literal["draft", "published"] | Unset = UNSET


class CallWritingTool(Request):
    """Have a tool write into the draft, with its arguments as parameters; it is recorded."""

    answer: ClassVar[type[Any]] = dict[str, Any]
    subject: ClassVar[str] = "file"

    workbench_id: WorkbenchParam


ToolRequest = ToolsList | ToolsCall
"""The requests of this subject."""
