"""Parts as they are unpacked, and what stands before their roots."""

import random
import zipfile
import zlib
from collections import deque
from zipfile import ZipInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbd.errors import FileReadFailed
from kbd.opc.entries import PartStream
from kbd.opc.package import prolog_fault
from zipforge import deflated


def entry(data: bytes, packed: bytes, method: int = 8, size: int | None = None) -> ZipInfo:
    info = ZipInfo("a.xml")
    info.compress_type, info.compress_size = method, len(packed)
    info.CRC, info.file_size = zlib.crc32(data), len(data) if size is None else size
    return info


@given(
    st.binary(max_size=300), st.integers(0, 3_000), st.lists(st.integers(-1, 90_000), max_size=6),
    st.booleans(),
)  # fmt: skip
def test_a_part_is_read_whole_in_any_pieces(
    seed: bytes, times: int, wanted: list[int], is_stored: bool
) -> None:
    """Read in whatever pieces, the pieces together are the part, each as long as was asked."""
    data = seed * times
    packed = data if is_stored else deflated(data)
    method = zipfile.ZIP_STORED if is_stored else zipfile.ZIP_DEFLATED
    stream = PartStream("a", entry(data, packed, method), packed)

    read = b""
    for size in wanted:
        piece = stream.read(size)
        left = len(data) - len(read)
        assert len(piece) == (left if size < 0 else min(size, left))
        read += piece
    read += stream.read()

    assert read == data
    assert stream.read() == stream.read(5) == b""


DATA = random.Random(1).randbytes(1_000) * 200
PACKED = deflated(DATA)
LIES = {
    "longer": (DATA, PACKED, len(DATA) + 1, "less than"),
    "shorter": (DATA[:100_000], PACKED, 100_000, "more than"),
    "cut": (DATA, PACKED[:-5], None, "less than|cut short"),
    "not deflated": (DATA, b"\xff" * 100, None, "unpacked"),
    "another sum": (DATA + b"x", PACKED, len(DATA), "not what it was"),
    "nothing claimed": (b"", PACKED, 0, "more than"),
    "an end that is cut": (DATA[:-1], deflated(DATA[:-1])[:-1], None, "less than|cut short"),
}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("which", LIES)
@pytest.mark.parametrize("size", [-1, 7, 65_536, 1 << 20])
def test_a_part_that_is_not_what_it_claims_is_refused(which: str, size: int) -> None:
    """However it is read, the end is not reached without an error."""
    data, packed, claimed, words = LIES[which]
    stream = PartStream("a.zip", entry(data, packed, size=claimed), packed)

    with pytest.raises(FileReadFailed, match=words):
        deque(iter(lambda: stream.read(size), b""), maxlen=0)


ROOT = "<a><!DOCTYPE b></a>"
FINE = {
    "no prolog": ROOT,
    "a declaration": "<?xml version='1.0' encoding='utf-8' standalone='yes'?>\n" + ROOT,
    "a long comment": f"<!--{'<!DOCTYPE a>' * 9_000}-->{ROOT}",
    "an instruction": f"<?mso <!DOCTYPE a>?>{ROOT}",
    "nothing": "",
    "no XML": "PK\x03\x04",
    "only a comment": "<!-- -->",
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("which", FINE)
def test_what_may_stand_before_a_root(which: str, encoding: str) -> None:
    """Declarations, comments and instructions are no fault, whatever is in them."""
    data = FINE[which].encode(encoding)
    packed = deflated(data)

    assert prolog_fault(PartStream("a", entry(data, packed), packed)) == ""


FAULTY = {
    "at once": "<!DOCTYPE a>" + ROOT,
    "after blanks": "\n" * 5_000 + "<!DOCTYPE a>" + ROOT,
    "across a seam": " " * 1_020 + "<!DOCTYPE a>" + ROOT,
    "after comments": "<!-- - -->" * 5_000 + "<!DOCTYPE a>" + ROOT,
    "without an end": "<!--" + " " * 2_000_000,
    "too many comments": "<!-- -->" * 200_000 + ROOT,
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("which", FAULTY)
def test_what_may_not_stand_before_a_root(which: str, encoding: str) -> None:
    """A document type is found however far it stands, and a prolog without end is one, too."""
    data = FAULTY[which].encode(encoding)
    packed = deflated(data)

    fault = prolog_fault(PartStream("a", entry(data, packed), packed))

    assert ("document type" in fault) or ("too much" in fault)


@pytest.mark.parametrize("name", ["UTF-7", "utf-32", "hz", "iso-2022-jp", "x", ""])
def test_encodings_that_hide_a_document_type_are_refused(name: str) -> None:
    """Where a declaration could not be seen, the part is refused."""
    data = f'<?xml version="1.0" encoding="{name}"?>{ROOT}'.encode()
    packed = deflated(data)

    assert "encoding" in prolog_fault(PartStream("a", entry(data, packed), packed))
