"""A case file is a zip that any program opens, and the same bytes each time."""

import io
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from cased import RUN_ENDS, case_bytes, contents, small, workbench
from kbd.core.audit.case_file import verifier_files
from kbd.core.audit.verify.layout import SEAL_BYTES, header_of, regions, seal_of
from kbd.core.audit.verify.manifest import MANIFEST, Case, Member, case_of, manifest_of, order
from kbd.core.runtime.paths import WorkbenchFolders
from kbd.events import DISK, EventLog, codec
from kbd.events.workbenches import UserMessageAdded


@pytest.fixture
def folders(tmp_path: Path) -> WorkbenchFolders:
    """A workbench with a run."""
    return workbench(tmp_path / "bench")


def test_any_zip_program_opens_it(folders: WorkbenchFolders, tmp_path: Path) -> None:
    """Python's own reader finds every member whole, stored, with plain attributes."""
    found = contents(folders)
    data = case_bytes(tmp_path, found)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        members = archive.infolist()
        assert [each.filename for each in members] == sorted(archive.namelist(), key=order)
        assert {source.name for source in found.sources} == set(archive.namelist()) - {MANIFEST}
        for each in members:
            assert each.compress_type == zipfile.ZIP_STORED
            assert each.date_time == (2025, 11, 22, 12, 0, 0)
            assert each.external_attr >> 16 == 0o100644
        assert seal_of(archive.comment) is not None
        names = {name for name in archive.namelist() if name.startswith("blobs/")}
        assert {f"blobs/{sha256(archive.read(name)).hexdigest()}" for name in names} == names
        assert "17:" in archive.read("README.txt").decode()
        assert "double it" in archive.read("report.html").decode()


def test_the_log_in_it_is_the_beginning_of_the_log(
    folders: WorkbenchFolders, tmp_path: Path
) -> None:
    """Byte for byte up to the end of the frame with the run's last event, and it opens as a log."""
    with zipfile.ZipFile(io.BytesIO(case_bytes(tmp_path, contents(folders)))) as archive:
        log = archive.read("log/00000000000000000001.kbl")
        archive.extractall(tmp_path / "out")
    whole = (folders.log / "00000000000000000001.kbl").read_bytes()
    assert whole.startswith(log)
    assert len(log) < len(whole.rstrip(b"\0"))
    opened = EventLog.open(tmp_path / "out" / "log", disk=DISK)
    assert opened.seq == RUN_ENDS
    assert opened.damage is None
    opened.close()


def test_twice_the_same_bytes(folders: WorkbenchFolders, tmp_path: Path) -> None:
    """A run that is over has one case file, whatever happens in the workbench afterwards."""
    first = case_bytes(tmp_path, contents(folders))
    log = EventLog.open(folders.log)
    log.append([codec.wrap_event(UserMessageAdded("m9", "one more thing"), 1)])
    log.close()
    assert case_bytes(tmp_path, contents(folders)) == first


def test_equal_cases_have_equal_manifests(folders: WorkbenchFolders) -> None:
    """What is read from a manifest is what was written, and another form of it is refused."""
    case = contents(folders).case
    data = manifest_of(case)
    assert case_of(data) == case
    for other in (data + b"\n", data.replace(b'"seq": 17', b'"seq": 17.0'), b"{}", b"\xff"):
        with pytest.raises(ValueError, match="manifest"):
            case_of(other)


def hostile(name: str) -> Case:
    """A case with one member of that name."""
    member = Member(name, 0, sha256(b"").hexdigest(), 0, ())
    time = "2025-11-22T12:00:00Z"
    return Case("0.1.0", "00112233445566ff-1", ("0011", "x"), 1, "0" * 64, time, (member,))


@pytest.mark.parametrize(
    "name",
    ["../a", "/a", "a/../b", "a\\b", "C:a", ".a", "a//b", "a/", "", "é", "a\n", "-a", "a" * 101],
)
def test_names_that_lead_elsewhere_are_refused(name: str) -> None:
    """A manifest has names of files below a folder, and no others: unpacking is safe."""
    with pytest.raises(ValueError, match="where something else belongs"):
        case_of(manifest_of(hostile(name)))


@pytest.mark.parametrize("time", ["2025-13-01T00:00:00Z", "2025-01-01T99:00:00Z", "٢٠٢٥", ""])
def test_times_that_are_none_are_refused(time: str) -> None:
    """A time must be one that a header can hold."""
    with pytest.raises(ValueError, match="where something else belongs"):
        case_of(manifest_of(hostile("a")._replace(time=time)))


def test_what_is_long_is_written_in_64_bits(tmp_path: Path) -> None:
    """Past 4 GiB and past 65535 members the directory is one that Python's own reader finds."""
    names = [f"blobs/{number:064x}" for number in range(3)]
    sizes = [5 << 30, 10, 3 << 30]
    members = [Member(name, size, "0" * 64, 7, ()) for name, size in zip(names, sizes, strict=True)]
    case = hostile("a")._replace(members=tuple(members))
    manifest = Member(MANIFEST, 11, "0" * 64, 7, ())
    path = tmp_path / "long.zip"
    with path.open("wb") as file:  # Sparse: the contents are holes.
        for region in regions(case, manifest):
            file.seek(region.start)
            file.write(region.expected)
        file.write(b"x" * SEAL_BYTES)
    with zipfile.ZipFile(path) as archive:
        found = [(each.filename, each.file_size) for each in archive.infolist()]
        assert found == [(MANIFEST, 11), *zip(names, sizes, strict=True)]
        last = archive.infolist()[-1]
        assert last.header_offset > 5 << 30
    path.unlink()
    assert header_of(members[0], case.time)[-16:] == sizes[0].to_bytes(8, "little") * 2


def test_the_verifier_is_python_3_8(tmp_path: Path) -> None:
    """Its sources have the syntax of 3.8, and import nothing but the standard library."""
    import ast

    modules = {name: data.decode() for name, data in verifier_files().items()}
    assert len(modules) == 11
    for name, source in modules.items():
        tree = ast.parse(source, name, feature_version=(3, 8))
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                imported = {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported = {str(node.module).partition(".")[0]}
            else:
                continue
            assert imported <= sys.stdlib_module_names


def test_a_case_file_checks_another(folders: WorkbenchFolders, tmp_path: Path) -> None:
    """The verifier of one that is trusted checks one that is not."""
    data = case_bytes(tmp_path, small(folders))
    trusted, other = tmp_path / "trusted.zip", tmp_path / "other.zip"
    trusted.write_bytes(data)
    other.write_bytes(data.replace(b"PK\x05\x06", b"PK\x05\x07"))
    alone = subprocess.run([sys.executable, str(other)], capture_output=True, check=False)
    assert alone.returncode == 1  # Python finds no program in it.
    told = subprocess.run(
        [sys.executable, str(trusted), str(other)], capture_output=True, text=True, check=False
    )
    assert told.returncode == 1
    at = data.rindex(b"PK\x05\x06") + 3
    assert f"at byte {at}: end record of the directory: byte 3" in told.stdout
