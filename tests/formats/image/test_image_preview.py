"""Pictures, upright and small."""

import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from image_forge import gif_of, png_claiming, saved
from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Preview, Source
from kbd_image import ImageFormat

IMAGE = ImageFormat()


def previewed(tmp_path: Path, data: bytes, index: int = 0, edge_px: int = 40) -> Preview:
    """A frame's picture."""
    path = tmp_path / "blob"
    path.write_bytes(data)
    return IMAGE.preview(Source(path, "a.png"), index, edge_px)


def opened(preview: Preview) -> Image.Image:
    """The picture, after seeing that it is what it says."""
    picture = Image.open(io.BytesIO(preview.data))
    assert picture.size == (preview.width, preview.height)
    assert Image.MIME[picture.format or ""] == preview.mime_type
    assert not picture.getexif()
    return picture


def corner(size: tuple[int, int] = (200, 100), mode: str = "RGB") -> Image.Image:
    """A white picture with its upper left quarter red."""
    picture = Image.new("RGB", size, "white")
    picture.paste("red", (0, 0, size[0] // 2, size[1] // 2))
    return picture.convert(mode)


def is_red(pixel: Any) -> bool:
    """Whether a pixel is the red of the corner, as far as JPEG keeps it."""
    red, green, blue = pixel[:3]
    return bool(red > 200 and green < 60 and blue < 60)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP"])
def test_each_kind_is_shown_small(tmp_path: Path, kind: str) -> None:
    """The longer edge as asked, photographs as JPEG, the rest without a loss."""
    preview = previewed(tmp_path, saved(corner(), kind))
    assert (preview.width, preview.height, preview.count) == (40, 20, 1)
    assert preview.mime_type == ("image/jpeg" if kind == "JPEG" else "image/png")
    picture = opened(preview).convert("RGB")
    assert is_red(picture.getpixel((5, 3)))
    assert not is_red(picture.getpixel((30, 15)))
    assert preview.warnings == ()


def test_a_small_picture_stays_as_it_is(tmp_path: Path) -> None:
    """It is not blown up."""
    preview = previewed(tmp_path, saved(corner((20, 10)), "PNG"), edge_px=4096)
    assert (preview.width, preview.height) == (20, 10)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF"])
@pytest.mark.parametrize(
    ("orientation", "place"),
    [(1, (0, 0)), (2, (1, 0)), (3, (1, 1)), (4, (0, 1)), (5, (0, 0)), (6, (1, 0)), (7, (1, 1)),
     (8, (0, 1))],
)  # fmt: skip
def test_pictures_are_upright(
    tmp_path: Path, kind: str, orientation: int, place: tuple[int, int]
) -> None:
    """The red quarter lands where a person sees it, in all eight ways, of all kinds."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    preview = previewed(tmp_path, saved(corner(), kind, exif=exif))
    assert (preview.width, preview.height) == ((20, 40) if orientation > 4 else (40, 20))
    picture = opened(preview).convert("RGB")
    for across in (0, 1):
        for down in (0, 1):
            spot = (preview.width * (1 + 2 * across) // 4, preview.height * (1 + 2 * down) // 4)
            assert is_red(picture.getpixel(spot)) == ((across, down) == place)


def test_what_shows_through_stays_so(tmp_path: Path) -> None:
    """As PNG, whether it is a channel or one colour of a palette."""
    clear = corner(mode="RGBA")
    clear.putalpha(Image.new("L", clear.size, 0))
    palette = corner(mode="P")
    for data in (
        saved(clear, "PNG"), saved(clear, "WEBP", lossless=True),
        saved(palette, "GIF", transparency=palette.getpixel((1, 1))),
        saved(corner(mode="L"), "PNG", transparency=76),
    ):  # fmt: skip
        picture = opened(previewed(tmp_path, data))
        assert picture.mode == "RGBA"
        assert picture.getpixel((5, 3))[3] == 0  # type: ignore[index] # RGBA has four


def test_deep_pictures_are_stretched_with_a_word(tmp_path: Path) -> None:
    """Sixteen bits and more are shown from their darkest to their lightest."""
    deep = Image.new("I;16", (80, 40), 1000)
    deep.paste(3000, (0, 0, 40, 40))
    for data in (saved(deep, "PNG"), saved(deep.convert("F"), "TIFF")):
        preview = previewed(tmp_path, data)
        assert opened(preview).convert("L").getextrema() == (0, 255)
        assert "more shades" in preview.warnings[0]
    flat = previewed(tmp_path, saved(Image.new("I;16", (80, 40), 1000), "PNG"))
    opened(flat)


def test_frames_can_be_asked_for(tmp_path: Path) -> None:
    """From 0 to the last; others are refused."""
    frames = [Image.new("RGB", (40, 40), colour) for colour in ("red", "lime", "blue")]
    for kind in ("GIF", "TIFF", "PNG", "WEBP"):
        data = saved(frames[0], kind, save_all=True, append_images=frames[1:])
        for index, colour in enumerate(((255, 0, 0), (0, 255, 0), (0, 0, 255))):
            preview = previewed(tmp_path, data, index)
            found = opened(preview).convert("RGB").getpixel((20, 20))
            assert isinstance(found, tuple)
            assert max(abs(a - b) for a, b in zip(found, colour, strict=True)) < 30, kind
            assert preview.count == 3
        with pytest.raises(ValidationFailed, match="3 frames"):
            previewed(tmp_path, data, 3)


def test_a_large_drawing_comes_as_jpeg(tmp_path: Path) -> None:
    """Where PNG would be larger than a preview may be; then what shows through is white."""
    noise = Image.merge("RGBA", [Image.effect_noise((1400, 1000), 90) for _ in range(4)])
    preview = previewed(tmp_path, saved(noise, "PNG", compress_level=1), edge_px=4096)
    assert (preview.mime_type, preview.width, preview.height) == ("image/jpeg", 1400, 1000)
    assert len(preview.data) <= 5 * 1024 * 1024
    assert "white" in preview.warnings[0]


def test_damaged_pictures_are_shown_as_far_as_they_go(tmp_path: Path) -> None:
    """What comes before the damage, with a warning."""
    for kind in ("PNG", "JPEG"):
        data = saved(Image.effect_noise((300, 300), 90), kind)
        preview = previewed(tmp_path, data[: len(data) // 2])
        assert "damaged" in preview.warnings[0]
        lower = opened(preview).convert("L").crop((5, 30, 35, 40))
        upper = opened(preview).convert("L").crop((5, 0, 35, 10))
        assert lower.getextrema() != upper.getextrema()
    with pytest.raises(FileReadFailed, match=r"a\.png"):
        previewed(tmp_path, saved(corner(), "WEBP")[:60])


def test_what_is_past_the_limits_is_refused(tmp_path: Path) -> None:
    """Fifty megapixels a frame, a hundred frames, two hundred megapixels for one of them."""
    with pytest.raises(FileReadFailed, match="more than 50,000,000 are not decoded"):
        previewed(tmp_path, png_claiming(30_000, 30_000))
    film = gif_of(300, 2000, 2000)
    assert previewed(tmp_path, film, 1).count == 100
    with pytest.raises(FileReadFailed, match="past the limit"):
        previewed(tmp_path, film, 90)
    with pytest.raises(ValidationFailed):
        previewed(tmp_path, film, 100)
