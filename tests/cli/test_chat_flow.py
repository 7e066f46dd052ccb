"""How an answer is written while it comes, and what a folder and a pipe are read as."""

import io
from pathlib import Path

import pytest

from kbd.cli.chat.answer import AnswerWriter
from kbd.cli.chat.entry import join_continuations
from kbd.cli.chat.folder import UNREADABLE, walk_folder, workbench_folder, workbench_name
from kbd.cli.exits import Stop


def flowed(text: str, width: int, piece: int = 3) -> str:
    """What a terminal of so many columns gets of a text that comes in pieces."""
    out = io.StringIO()
    flow = AnswerWriter(out, lambda: width)
    for start in range(0, len(text), piece):
        flow.write(text[start : start + piece])
    flow.end(text)
    return out.getvalue()


@pytest.mark.parametrize("piece", [1, 2, 7, 1000])
def test_lines_are_broken_between_words(piece: int) -> None:
    """However the pieces fall; what is in a list goes on below its text."""
    text = "one two three\n\n- a long item of it\n  1. nested deeper yet"
    assert flowed(text, 12, piece).replace(" \n", "\n") == (
        "one two\nthree\n\n- a long\n  item of it\n  1. nested\n     deeper\n     yet\n"
    )


def test_fences_and_rows_of_tables_are_left_whole() -> None:
    """A broken line of code is no code; after the fence lines are broken again."""
    whole = "```\na = b + c + d + e\n```\n| one | two | three |\n"
    assert flowed(f"{whole}and so on it goes", 10) == f"{whole}and so on\nit goes\n"


def test_wide_characters_count_twice_and_may_part() -> None:
    """A text without spaces is broken before the column that it does not fit into."""
    assert flowed("会議は三月に", 8) == "会議は三\n月に\n"
    assert flowed("e\u0301 bc", 8) == "e\u0301 bc\n"


def test_control_sequences_are_taken_out_though_they_come_in_pieces() -> None:
    """What is begun in one piece and ended in another does not reach the terminal."""
    for piece in (1, 2, 5):
        shown = flowed("a \x1b[31mred\x1b[0m \x1b]0;title\x07one\u202e", 40, piece)
        assert shown == "a red one\n"


def test_only_what_is_missing_is_written_at_the_end() -> None:
    """What came last may be lost; an answer that was written anew is written whole."""
    out = io.StringIO()
    flow = AnswerWriter(out, lambda: 40)
    flow.write("one tw")
    flow.end("one two")
    assert out.getvalue() == "one two\n"
    flow = AnswerWriter(out := io.StringIO(), lambda: 40)
    flow.write("another")
    flow.end("one two")
    assert out.getvalue() == "another\n…\none two\n"


def test_a_backslash_joins_lines_of_a_pipe() -> None:
    """Blank lines are nothing; the last line may lack its end."""
    lines = ["a\\\n", "b\n", "\n", "  \r\n", "c\r\n", "d\\\n", "e\\"]
    assert list(join_continuations(lines)) == ["a\nb", "c", "d\ne\n"]


def test_a_folder_is_walked_to_its_readable_files(tmp_path: Path) -> None:
    """Nearest first; hidden files, locks and what is left out in silence, others with a reason."""
    for name in ("b.md", "deep/a.md", "deep/B.TXT", "x.img", ".hidden", "~$b.md", "index/p.md",
                 ".git/c.md", "makefile", "v2/search.lock", "v2/search-1.db"):  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "link.md").symlink_to(tmp_path / "b.md")
    found = walk_folder(tmp_path, [tmp_path / "index"], {".md", ".txt", ".lock", "makefile"})
    names = [str(path.relative_to(tmp_path)) for path in found.files]
    assert names == ["b.md", "makefile", "deep/B.TXT", "deep/a.md"]
    assert found.skipped == (("link.md", "a link"), ("x.img", UNREADABLE))


def test_a_whole_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything of it is copied; so is a folder that cannot be looked into."""
    monkeypatch.setattr("kbd.cli.chat.folder.MAX_ENTRIES", 2)
    for name in "abc":
        (tmp_path / name).touch()
    with pytest.raises(Stop, match="more than 2 files"):
        walk_folder(tmp_path, [], set())
    with pytest.raises(Stop, match="cannot be looked into"):
        walk_folder(tmp_path / "none", [], set())


def test_a_folder_is_found_again_by_its_name(tmp_path: Path) -> None:
    """Its path, as far as that is fit for a name; two folders never share one."""
    assert workbench_name(tmp_path) == str(tmp_path)
    assert workbench_folder(workbench_name(tmp_path)) == tmp_path
    assert workbench_folder("taxes") is None
    assert workbench_folder(str(tmp_path / "none")) is None
    long = [Path("/" + "x" * 150 + "/" + "y" * 150 + f"/{end}") for end in "ab"]
    names = {workbench_name(path) for path in [*long, Path("/a\nb"), Path("/a b")]}
    assert len(names) == 4
    assert all(len(name) <= 200 and name.isprintable() for name in names)
