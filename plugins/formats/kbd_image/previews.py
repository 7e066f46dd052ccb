"""Previews of pictures: upright, small, transparent where the picture is."""

import io

from PIL import Image

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Preview, Source
from kbd_image.decoder import MAX_FRAMES, check_pixels, is_vector, kind_of, open_picture
from kbd_image.facts import count_frames, orientation_of

__all__ = ["preview"]

MAX_BYTES = 5 * 1024 * 1024
"""Of a preview (`kbd.formats.Preview`)."""

_QUALITIES = (88, 75, 50)
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM, 5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270, 7: Image.Transpose.TRANSVERSE, 8: Image.Transpose.ROTATE_90,
}  # fmt: skip
"""What makes a picture of an EXIF orientation upright."""

_DEEP_MODES = ("I", "I;16", "I;16B", "I;16L", "F")


def preview(source: Source, index: int, edge_px: int) -> Preview:
    """Return a frame whose longer edge has at most `edge_px`; see `Previewable.preview`."""
    if is_vector(source):
        raise ValidationFailed(
            f"{source.name} is an svg file: it is read as text and not drawn, because markup can "
            "run scripts and fetch files"
        )
    try:
        return _preview(source, index, edge_px, tolerant=False)
    except FileReadFailed as error:
        try:
            return _preview(source, index, edge_px, tolerant=True)
        except FileReadFailed:
            # The first error says what is wrong; this one only that leniency did not help.
            raise error from None


def _preview(source: Source, index: int, edge_px: int, *, tolerant: bool) -> Preview:
    with open_picture(source, tolerant=tolerant) as picture:
        kind, frames = kind_of(picture), count_frames(source, picture)
        if not 0 <= index < min(frames, MAX_FRAMES):
            words = f"{frames} frames" if frames > 1 else "one frame"
            raise ValidationFailed(f"{source.name} has {words}; {index} is not one, from 0")
        # A frame of a film is made of those before it, a page stands alone.
        needed = 1 if kind == "TIFF" else index + 1
        check_pixels(source.name, *picture.size, needed)
        picture.seek(index)
        check_pixels(source.name, *picture.size)
        # Before it is decoded: of a JPEG file that may be a smaller one.
        size = picture.size
        shown, is_stretched = _thumbnail(picture, edge_px)
    warnings = [_DAMAGED] if tolerant else []
    if is_stretched:
        warnings.append(_STRETCHED)
    data, mime_type, notes = _encoded(shown, is_photo=kind == "JPEG")
    is_turned = (size[0] > size[1]) != (shown.width > shown.height) and size[0] != size[1]
    return Preview(
        data,
        mime_type,
        shown.width,
        shown.height,
        min(frames, MAX_FRAMES),
        (*warnings, *notes),
        size[::-1] if is_turned and shown.width != shown.height else size,
    )


def _thumbnail(picture: Image.Image, edge_px: int) -> tuple[Image.Image, bool]:
    """Return a picture upright and small, as RGB or RGBA, and whether its light was stretched."""
    # Of JPEG only as much is decoded as is shown; of others whole pixels are left out first.
    picture.draft("RGB", (edge_px, edge_px))
    picture.load()
    # Pillow turns TIFF files itself, and then says no more that they are turned.
    orientation = orientation_of(picture)
    is_deep = picture.mode in _DEEP_MODES
    plain = _to_8_bit(picture) if is_deep else picture
    has_alpha = "transparency" in plain.info or plain.mode in ("LA", "La", "PA", "RGBA", "RGBa")
    if plain.mode in ("La", "RGBa"):
        plain = plain.convert(plain.mode.upper())
    plain = plain.convert("RGBA" if has_alpha else "RGB")
    if max(plain.size) > edge_px:
        plain.thumbnail((edge_px, edge_px), reducing_gap=2.0)
    turn = _TURNS.get(orientation)
    return plain if turn is None else plain.transpose(turn), is_deep


def _to_8_bit(picture: Image.Image) -> Image.Image:
    """Return a picture of many shades with those of 8 bits, from its darkest to its lightest."""
    deep = picture.convert("F")
    low, high = deep.getextrema()
    assert isinstance(low, float)
    assert isinstance(high, float)
    scale = 255 / (high - low) if high > low else 1.0
    made = deep.point(lambda value: value * scale - low * scale).convert("L")
    made.info = dict(picture.info)
    made.info.pop("transparency", None)
    return made


def _encoded(picture: Image.Image, *, is_photo: bool) -> tuple[bytes, str, tuple[str, ...]]:
    if not is_photo:
        data = _saved(picture, "PNG", compress_level=4)
        if len(data) <= MAX_BYTES:
            return data, "image/png", ()
    notes: tuple[str, ...] = ()
    if picture.mode == "RGBA":
        ground = Image.new("RGB", picture.size, "white")
        ground.paste(picture, mask=picture.getchannel("A"))
        picture, notes = ground, (_FILLED,)
    data = b""
    for quality in _QUALITIES:
        data = _saved(picture, "JPEG", quality=quality)
        if len(data) <= MAX_BYTES:
            break
    return data, "image/jpeg", notes


def _saved(picture: Image.Image, kind: str, **how: int) -> bytes:
    # No metadata goes with the preview: it may hold a place or a name.
    picture.info = {}
    buffer = io.BytesIO()
    picture.save(buffer, kind, **how)
    return buffer.getvalue()


_DAMAGED = "The file is damaged: what is missing is black."
_STRETCHED = "It has more shades than are shown: its darkest is black here, its lightest white."
_FILLED = "What shows through is white here."
