"""Tool that saves a page as a picture: `save_page_picture`, for formats that are shown as such."""

import io
from pathlib import Path
from typing import Annotated, ClassVar

import msgspec
from anyio.to_thread import run_sync
from msgspec import Meta

from kbd.editing import suffix_names
from kbd.errors import ValidationFailed
from kbd.formats import Previewable, Printable
from kbd.tools import FormatCatalog, Tool, ToolContext, ToolResult
from kbd.types import Effect

__all__ = ["PictureArguments", "SavePagePicture", "convert_picture", "picture_tools"]

KINDS = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}
"""What is written, by the end of the new file's name."""

QUALITY = 90
"""Of JPEG pictures: above it they grow and look alike."""

EDGE_PX = 2048
"""The longer edge where none is asked for: that of an A4 page then has 175 dots an inch."""


class PictureArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A page of a file, and the new picture that it becomes."""

    path: Annotated[str, Meta(description="The file's name in the workbench.")]
    target_path: Annotated[
        str, Meta(description="The new picture's name, which ends with .png, .jpg or .jpeg.")
    ]
    page: Annotated[int, Meta(description="Which page, slide or frame, from 1.", ge=1)] = 1
    edge_px: Annotated[
        int, Meta(description="Pixels of the longer edge, at most.", ge=1, le=4096)
    ] = EDGE_PX


class SavePagePicture(Tool):
    """`save_page_picture`: a page, slide or frame as a new picture in the draft.

    Args:
        formats: The installed formats; the description names those that are shown as pictures.
    """

    name: ClassVar[str] = "save_page_picture"
    arguments = PictureArguments
    effect: ClassVar[Effect] = Effect.WRITE

    def __init__(self, formats: FormatCatalog) -> None:
        shown = ", ".join(
            f"{each.name} ({suffix_names(each)})"
            for each in formats.handlers()
            if isinstance(each, Previewable | Printable)
        )
        self.description = (
            "Save a page of a file as a new picture (.png, .jpg) in the draft, as it looks now; "
            "to make a notice or a card as a picture, write a document first and save its page. "
            "Documents, workbooks and decks need an office program to be installed. "
            f"Formats: {shown}."
        )

    async def run(self, context: ToolContext, arguments: PictureArguments) -> ToolResult:
        """Draw the page; return `{path, source, page, page_count, width, height, warnings}`.

        Raises:
            ValidationFailed: The file is not shown as a picture, there is no such page, or the new
                file exists already or ends otherwise.
            NotFound: There is no such file.
            FileReadFailed: It cannot be read or drawn.
            ToolWorkerUnavailable: It would have to be printed, and no program is there.
        """
        file = context.files.get(arguments.path)
        name = context.files.new(arguments.target_path)
        suffix = next((end for end in KINDS if name.casefold().endswith(end)), "")
        if not suffix:
            ends = ", ".join(KINDS)
            raise ValidationFailed(f"target_path is {name!r}, and a picture ends with {ends}")
        drawn = await context.formats.preview(file, arguments.page - 1, arguments.edge_px)
        staged = context.files.stage(suffix)
        if drawn.mime_type == KINDS[suffix]:
            await run_sync(staged.write_bytes, drawn.data)
        else:
            told = {"picture": drawn.data, "target": staged, "mime_type": KINDS[suffix]}
            await context.isolate(convert_picture, told)
        context.files.put(name, staged, notes=drawn.warnings)
        value = {
            "path": name,
            "source": file.name,
            "page": arguments.page,
            "page_count": drawn.count,
            "width": drawn.width,
            "height": drawn.height,
            "warnings": list(drawn.warnings),
        }
        return ToolResult(value, is_action=True)


def picture_tools(formats: FormatCatalog) -> list[Tool]:
    """Return the tool that saves pictures, where there is a format that is shown as such."""
    is_shown = any(isinstance(each, Previewable | Printable) for each in formats.handlers())
    return [SavePagePicture(formats)] if is_shown else []


def convert_picture(picture: bytes, target: str, mime_type: str) -> None:
    """Write a picture of one kind as one of another, on white where it is transparent."""
    from PIL import Image  # noqa: PLC0415 - 60 ms, in a worker alone

    with Image.open(io.BytesIO(picture)) as image:
        shown = image.convert("RGBA")
    plain = Image.new("RGBA", shown.size, "white")
    plain.alpha_composite(shown)
    kind = mime_type.removeprefix("image/")
    options = {"quality": QUALITY} if kind == "jpeg" else {}
    plain.convert("RGB").save(Path(target), kind, **options)
