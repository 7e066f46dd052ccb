"""The tool that shows earlier results again."""

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from kbd.tools import Tool, ToolContext, ToolResult
from kbd.types import Effect

__all__ = ["RecallArguments", "RecallToolResult"]

_PAGE_CHARACTERS = 16_000
_MOST_CHARACTERS = 64_000


class RecallArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An earlier call, and which part of its result to show."""

    entry_id: Annotated[int, Meta(description="The entry id that the receipt names.", ge=1)]
    offset: Annotated[int, Meta(description="The first character, counted from 0.", ge=0)] = 0
    limit: Annotated[
        int, Meta(description="How many characters at most.", ge=1, le=_MOST_CHARACTERS)
    ] = _PAGE_CHARACTERS


class RecallToolResult(Tool):
    """`recall_tool_result`: the whole of what a receipt stands for, in pages."""

    name: ClassVar[str] = "recall_tool_result"
    description = (
        "Show the stored result of an earlier call by its entry id: the JSON text that the tool "
        "returned, in pages of characters. While has_more is true, go on at next_offset."
    )
    arguments = RecallArguments
    effect: ClassVar[Effect] = Effect.RECALL

    async def run(self, context: ToolContext, arguments: RecallArguments) -> ToolResult:
        """Return `{entry_id, text, offset, total, has_more, next_offset?}`.

        Raises:
            NotFound: There is no such entry.
        """
        whole = (await context.recall.result(arguments.entry_id)).decode()
        end = min(arguments.offset + arguments.limit, len(whole))
        page = {
            "entry_id": arguments.entry_id,
            "text": whole[arguments.offset : end],
            "offset": arguments.offset,
            "total": len(whole),
            "has_more": end < len(whole),
        }
        if end < len(whole):
            page["next_offset"] = end
        # Shown whole: a receipt of a recall could only say "recall this".
        return ToolResult(page, is_action=True)
