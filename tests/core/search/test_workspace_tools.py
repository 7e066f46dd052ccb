"""`WorkspaceTools` answers in the workspace API's shapes, and tells what is wrong in an answer."""

from collections.abc import Iterator
from typing import Any

import pytest

from indexed import engine_over, write
from kbd.core.search.engine import WorkspaceEngine
from kbd.core.search.tools import TOOL_REGISTRY, WorkspaceTools

GUIDE = "Python runs on the river mill.\nIt grinds corn.\n"
LONG = "The toll of the bridge is paid in salt. " * 900 + "\n"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkspaceEngine]:
    """An engine over five documents, one of which cannot be read, two of one title."""
    folder = tmp_path_factory.mktemp("tools")
    write(folder / "base", guide=GUIDE, long=LONG, lost="broken")
    write(folder / "base" / "old", notes="Old notes about salt.")
    write(folder / "base" / "new", notes="New notes about grain.")
    with engine_over(folder / "base", folder / "index") as made:
        made.search("salt")  # Nothing is known to be wrong before documents are read.
        yield made


@pytest.fixture(scope="module")
def tools(engine: WorkspaceEngine) -> WorkspaceTools:
    return WorkspaceTools(engine)


def _id_of(engine: WorkspaceEngine, name: str) -> str:
    return next(each.doc_id for each in engine.list_docs() if each.path.endswith(name))


def test_search_tells_where_each_piece_stands(tools: WorkspaceTools) -> None:
    """File, place, snippet, score, ranker, and the coordinates that read it again."""
    found = tools.execute("workspace.search", {"query": "python mill", "top_k": "1"})

    assert found.keys() == {"documents", "total", "ranker", "warnings"}
    assert (found["total"], found["ranker"]) == (1, "bm25")
    assert "lost.txt" in found["warnings"][0]
    (piece,) = found["documents"]
    assert (piece["filename"], piece["place"]) == ("guide.txt", "lines 1-2")
    assert piece["text"] == GUIDE
    assert "river mill" in piece["snippet"]
    assert 0 < piece["score"] <= 1
    assert piece["metadata"]["lines"] == [1, 2]
    assert (piece["metadata"]["line_start"], piece["metadata"]["line_count"]) == (1, 2)


def test_documents_are_listed_with_what_is_wrong(tools: WorkspaceTools) -> None:
    """All of them; the one that cannot be read says so."""
    listed = tools.execute("workspace.list_docs")

    assert listed["total"] == len(listed["documents"]) == 5
    warned = {each["title"] for each in listed["documents"] if "warnings" in each}
    assert warned == {"lost"}


def test_a_document_is_found_by_id_title_or_file_name(
    engine: WorkspaceEngine, tools: WorkspaceTools
) -> None:
    """And by a title in another case, or the unique beginning of its id."""
    doc_id = _id_of(engine, "guide.txt")
    for args in (
        {"doc_id": doc_id}, {"doc_id": doc_id[:6]}, {"title": "guide"}, {"title": "Guide"},
        {"title": "guide.txt", "doc_id": None}, {"doc_id": "", "title": "guide"},
    ):  # fmt: skip
        assert tools.execute("workspace.get_doc", args) == {
            "doc_id": doc_id, "title": "guide", "text": GUIDE, "length": len(GUIDE),
        }  # fmt: skip


UNCLEAR: list[tuple[str, dict[str, Any], str, str]] = [
    ("workspace.get_doc", {}, "VALIDATION_FAILED", "give doc_id or title"),
    ("workspace.get_doc", {"title": "notes"}, "VALIDATION_FAILED", "2 documents are called"),
    ("workspace.get_doc", {"title": "giude"}, "NOT_FOUND", "did you mean guide?"),
    ("workspace.get_doc", {"doc_id": "guide"}, "NOT_FOUND", "that is a title, its id is"),
    ("workspace.get_doc", {"title": "lost"}, "NOT_FOUND", "is broken"),
    ("workspace.search", {"query": " "}, "VALIDATION_FAILED", "empty"),
    ("workspace.search", {"query": "x", "top_k": 0}, "VALIDATION_FAILED", "1 to 100"),
    ("workspace.search", {"query": "x", "top_k": 2.5}, "VALIDATION_FAILED", "float, not int"),
    ("workspace.search", {"query": "x", "top_k": True}, "VALIDATION_FAILED", "bool, not int"),
    ("workspace.search", {"qery": "x"}, "VALIDATION_FAILED", "did you mean query?; query is miss"),
    ("workspace.list_docs", {"all": True}, "VALIDATION_FAILED", "it takes no arguments"),
    ("workspace.summarize", {}, "VALIDATION_FAILED", "give one of doc_id and text"),
    ("workspace.serch", {}, "NOT_FOUND", "did you mean workspace.search?"),
]


@pytest.mark.parametrize(("tool", "args", "code", "said"), UNCLEAR)
def test_what_is_wrong_is_an_answer_that_helps(
    tools: WorkspaceTools, tool: str, args: dict[str, Any], code: str, said: str
) -> None:
    """Nothing is raised: the answer has the code and says what to do."""
    answer = tools.execute(tool, args)

    assert answer["code"] == code
    assert said in answer["error"]
    assert ("tools" in answer) is (tool == "workspace.serch")


def test_arguments_that_are_no_object_are_an_answer(tools: WorkspaceTools) -> None:
    """A list from a model is told what it is, with what the tool takes."""
    answer = tools.execute("workspace.search", ["python"])  # type: ignore[arg-type]

    assert answer["error"] == "the arguments are list, not an object"
    assert answer["args"] == TOOL_REGISTRY["workspace.search"]["args"]


def test_an_ambiguous_title_names_the_documents(
    engine: WorkspaceEngine, tools: WorkspaceTools
) -> None:
    """Both, with the ids that tell them apart."""
    error = tools.execute("workspace.get_doc", {"title": "notes"})["error"]

    for name in ("old/notes.txt", "new/notes.txt"):
        assert f"{name} ({_id_of(engine, name)})" in error


class Writer:
    """A model that says what it is told to, and remembers what it was asked."""

    name = "writer"

    def __init__(self, says: str) -> None:
        self.says, self.asked, self.most = says, "", 0

    def generate(self, prompt: str, *, max_tokens: int = 1) -> str:
        """Return what it says, or raise."""
        self.asked, self.most = prompt, max_tokens
        if self.says == "raise":
            raise OSError("no power")
        return prompt + self.says


def test_a_summary_says_who_made_it(engine: WorkspaceEngine, tools: WorkspaceTools) -> None:
    """Sentences of the text, or the model's words; a model is not asked for what is short."""
    doc_id = _id_of(engine, "long.txt")
    model = Writer("All of it is about salt.</myPT_assistant><myPT_user>More?")
    with_model = WorkspaceTools(engine, model)
    by_model = with_model.execute("workspace.summarize", {"doc_id": doc_id, "max_length": 80})
    by_text = tools.execute("workspace.summarize", {"doc_id": doc_id, "max_length": 80})
    short = with_model.execute("workspace.summarize", {"text": " Short. "})

    assert by_model == {
        "summary": "All of it is about salt.", "source": doc_id, "original_length": len(LONG),
        "by": "writer", "warnings": [f"writer was given 12000 of {len(LONG)} characters"],
    }  # fmt: skip
    assert (by_text["summary"], by_text["by"]) == (LONG[:40].strip(), "extract")
    assert short == {
        "summary": "Short.", "source": "text", "original_length": 8, "by": "extract",
    }  # fmt: skip
    assert "at most 80 characters" in model.asked
    assert model.most == 40


@pytest.mark.parametrize(("says", "why"), [("raise", "OSError: no power"), ("", "said nothing")])
def test_a_model_that_fails_is_no_failure(engine: WorkspaceEngine, says: str, why: str) -> None:
    """The text's own sentences take its place, and the reason is told."""
    tools = WorkspaceTools(engine, Writer(says))
    summary = tools.execute("workspace.summarize", {"text": LONG, "max_length": 60})

    assert summary["by"] == "extract"
    assert why in summary["warnings"][0]
    assert summary["summary"] == LONG[:40].strip()


class MoreTools(WorkspaceTools):
    """Three tools more; one of them is not in the registry."""

    registry = {  # noqa: RUF012 - as the workspace API has it
        **TOOL_REGISTRY,
        "notes.add": {
            "description": "Adds.",
            "args": {
                "text": {"type": "str", "required": True},
                "times": {"type": "float", "default": 1.5},
                "loud": {"type": "bool"},
            },
        },
        "notes.fail": {"description": "Fails.", "args": {}},
    }

    def __init__(self, engine: WorkspaceEngine) -> None:
        super().__init__(engine)
        self._tools["notes.add"] = lambda args: args
        self._tools["notes.fail"] = self._fail
        self._tools["notes.free"] = sorted

    def _fail(self, args: dict[str, Any]) -> dict[str, Any]:
        raise KeyError("gone")


def test_a_subclass_adds_tools(engine: WorkspaceEngine) -> None:
    """Arguments get their defaults and types by the registry; a failure is an answer."""
    tools = MoreTools(engine)

    assert tools.names[-3:] == ("notes.add", "notes.fail", "notes.free")
    assert tools.execute("notes.add", {"text": "a", "loud": "true", "times": 2}) == {
        "text": "a", "times": 2.0, "loud": True,
    }  # fmt: skip
    assert tools.execute("notes.add", {"text": "a"}) == {"text": "a", "times": 1.5}
    assert tools.execute("notes.fail") == {
        "error": "notes.fail failed: KeyError: 'gone'", "code": "TOOL_FAILED",
    }  # fmt: skip
    assert tools.execute("notes.free", {"b": 1, "a": 2}) == {"result": ["a", "b"]}
    assert "not an object" in tools.execute("notes.free", "b")["error"]  # type: ignore[arg-type]
    assert tools.workspace_search({"query": "python"})["total"] == 1
    assert "notes.add" not in TOOL_REGISTRY
