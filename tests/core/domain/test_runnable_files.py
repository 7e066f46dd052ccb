"""Names by which a file runs, fetches or is obeyed, on any system, however they are spelled."""

import pytest

from kbd.core.domain.runnable_files import runnable_reason

NAMES = {
    # What mail programs and browsers hold back, a few of each kind; by the word of the reason.
    "script": "a.exe a.scr a.hta a.chm a.jar a.msc a.wsb a.vhd a.iso a.xlam a.mdb a.asp a.fsx",
    "shortcut": "a.lnk a.url a.desktop a.webloc a.library-ms a.searchConnector-ms a.appref-ms "
    "a.theme a.settingcontent-ms a.appcontent-ms a.contact a.rdp a.mht a.scf a.shb a.mam",
    "query": "a.iqy a.oqy a.dqy a.rqy a.odc a.slk a.udl a.fdf a.xdp a.m3u8 a.asx",
    "settings": "makefile .vscode/a.json a/.env yarn.lock a.service a.crt a.pfx a.tf a.exe.config",
    "bundle": "R.app/Contents/Info.plist x/R.workflow/Contents/a.txt R.scptd/a R.sparsebundle/a",
}

SPELLED = (
    "A.LNK", "a.lnk ", "a.lnk.", "a.Lnk. .", "a .lnk", "MAKEFILE", "ma\u212aefile", "a.\u017fh",
    "a.txt.lnk", "sub/A.App/x", "a.{3050F4D8-98B5-11CF-BB82-00AA00BDCE0B}",
    "a.txt.{3050f4d8-98b5-11cf-bb82-00aa00bdce0b}",
)  # fmt: skip

PLAIN = (
    "a.txt", "a.csv", "a.xlsx", "a.docx", "a.md", "a.html", "lnk", "a.lnk.txt", "sh", "app/x.txt",
    "a.app.txt", "make/file.txt", "a{b}.txt", "data.json", "r.pdf", "v1.0/notes.txt",
)  # fmt: skip


@pytest.mark.parametrize("reason", NAMES)
def test_each_kind_of_name_has_its_reason(reason: str) -> None:
    """Scripts, shortcuts, queries, settings, and folders that are opened as one program."""
    for name in NAMES[reason].split():
        assert reason in runnable_reason(name, b""), name


@pytest.mark.parametrize("name", SPELLED)
def test_a_name_counts_however_it_is_spelled(name: str) -> None:
    """Case, letters that fold to others, and what Windows drops from an end."""
    assert runnable_reason(name, b"")


def test_plain_names_do_not_count() -> None:
    """What only looks like one in another place is none."""
    assert [name for name in PLAIN if runnable_reason(name, b"words")] == []
