"""Searching, listing, reading and summarizing documents over the socket and in runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backends import mostly
from model_server import Reply, call, calls, phase_of, text, turn_of
from wired import MODEL, PLAN, Wired, wired

LEASE = (
    "The lease of the warehouse in Utrecht ends on 31 March 2027.\n"
    "The rent is 4,200 euros a month.\n"
)
HARBOUR = "Harbour dues are paid by the shipper within ten days.\n"
LONG = " ".join(f"Clause {n} says what the parties owe each other." for n in range(60)) + "\n"


@pytest.fixture(scope="module", params=mostly("asyncio"))
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here."""
    with wired(str(request.param), more={"KBD_LIMITS_FILE_BYTES": "100000"}) as running:
        yield running


def test_a_search_tells_how_near_where_and_what(wire: Wired) -> None:
    """The nearest piece comes first, with score, file, place, lines and snippet."""
    named = {"workbench_id": wire.workbench(lease__txt=LEASE, harbour__md=HARBOUR)}
    found = wire.ask("WorkspaceSearch", query="when does the warehouse lease end?", **named)

    first = found["documents"][0]
    assert (first["filename"], first["place"]) == ("lease.txt", "lines 1-2")
    assert 0 < first["score"] <= 1
    assert "31 March 2027" in first["snippet"]
    assert "\n" not in first["snippet"]
    assert first["metadata"]["lines"] == [1, 2]
    assert found["total"] == len(found["documents"])
    assert (found["ranker"], found["warnings"]) == ("bm25", [])
    assert wire.ask("WorkspaceSearch", query="zeppelin", **named)["documents"] == []
    assert wire.refused("WorkspaceSearch", query=" ", **named).data["error_code"] == (
        "VALIDATION_FAILED"
    )


def test_documents_are_listed_and_read_by_id_and_by_title(wire: Wired) -> None:
    """What no format reads is no document; a title that several have names them."""
    named = {"workbench_id": wire.workbench(lease__txt=LEASE, lease__md=HARBOUR, tool__exe="MZ")}
    listed = wire.ask("WorkspaceListDocs", **named)
    rows = {row["path"]: row for row in listed["documents"]}
    assert sorted(rows) == ["lease.md", "lease.txt"]
    assert listed["total"] == 2

    doc_id = rows["lease.txt"]["doc_id"]
    whole = wire.ask("WorkspaceGetDoc", doc_id=doc_id, **named)
    assert (whole["title"], whole["text"], whole["length"]) == ("lease", LEASE, len(LEASE))
    part = wire.ask("WorkspaceGetDoc", doc_id=doc_id, offset=4, max_characters=5, **named)
    assert (part["text"], part["has_more"]) == ("lease", True)
    ambiguous = wire.refused("WorkspaceGetDoc", title="lease", **named)
    assert "lease.md" in ambiguous.message
    assert "lease.txt" in ambiguous.message
    missing = wire.refused("WorkspaceGetDoc", title="laese", **named)
    assert missing.data["error_code"] == "NOT_FOUND"
    assert "lease" in missing.message


def test_a_summary_says_who_made_it_and_what_left_for_it(wire: Wired) -> None:
    """The model's where there is one, recorded before it leaves; else sentences of the text."""
    workbench_id = wire.workbench(long__txt=LONG)
    named = {"workbench_id": workbench_id}
    (row,) = wire.ask("WorkspaceListDocs", **named)["documents"]
    made = wire.ask("WorkspaceSummarize", doc_id=row["doc_id"], max_length=200, **named)
    assert (made["summary"], made["by"], made["source"]) == ("All done.", MODEL, row["doc_id"])
    assert made["original_length"] == len(LONG)
    sent = [e["data"] for e in wire.daemon.events(workbench_id) if e["type"] == "RequestSent"]
    assert [each["purpose"] for each in sent] == ["summarize"]

    offline = {"workbench_id": workbench_id, "model_id": "offline:planner"}
    wire.ask("WorkshopSetActiveModel", **offline)
    made = wire.ask("WorkspaceSummarize", text=LONG, max_length=200, **named)
    assert (made["by"], made["source"]) == ("extract", "text")
    assert 0 < len(made["summary"]) <= 200
    assert made["summary"][:20] in LONG
    assert wire.refused("WorkspaceSummarize", **named).data["error_code"] == "VALIDATION_FAILED"


def test_an_index_may_lie_in_a_folder_of_the_clients(wire: Wired, tmp_path: Path) -> None:
    """One is made there and used from then on; a folder of other things is refused untouched."""
    named = {"workbench_id": wire.workbench(lease__txt=LEASE)}
    first, second = tmp_path / "v1", tmp_path / "v2"
    answer = wire.ask("WorkspaceReloadIndex", index_dir=str(first), **named)
    assert (answer["num_docs"], answer["num_chunks"], answer["embedded"]) == (1, 1, 0)
    wire.ask("WorkspaceReloadIndex", index_dir=str(second), **named)
    assert wire.ask("WorkspaceSearch", query="rent", **named)["total"] == 1
    assert any(first.iterdir())
    assert any(second.iterdir())

    others = tmp_path / "others"
    others.mkdir()
    (others / "letter.txt").write_text("dear")
    refused = wire.refused("WorkspaceReloadIndex", index_dir=str(others), **named)
    assert refused.data["error_code"] == "VALIDATION_FAILED"
    assert [path.name for path in others.iterdir()] == ["letter.txt"]
    home = wire.refused("WorkspaceReloadIndex", index_dir=str(wire.daemon.home / "x"), **named)
    assert home.data["error_code"] == "VALIDATION_FAILED"
    for no_path in ("here", "/with\0nul"):
        refused = wire.refused("WorkspaceReloadIndex", index_dir=no_path, **named)
        assert refused.data["error_code"] == "VALIDATION_FAILED"
    assert wire.ask("WorkspaceSearch", query="rent", **named)["total"] == 1


@pytest.mark.full
def test_an_index_is_not_looked_for_behind_a_link(wire: Wired, tmp_path: Path) -> None:
    """A folder that becomes a link, or one above it, is left: nothing is made where it leads."""
    named = {"workbench_id": wire.workbench(lease__txt=LEASE)}
    for number, which in enumerate(("kept/index", "kept")):
        place, victim = tmp_path / f"{number}" / "kept" / "index", tmp_path / f"victim-{number}"
        place.parent.mkdir(parents=True)
        (victim / "index").mkdir(parents=True)
        wire.ask("WorkspaceReloadIndex", index_dir=str(place), **named)
        wire.daemon.stop()
        swapped = tmp_path / f"{number}" / which
        swapped.rename(tmp_path / f"moved-{number}")
        swapped.symlink_to(victim / "index" if which != "kept" else victim)
        wire.daemon.start()
        assert wire.ask("WorkspaceSearch", query="rent", **named)["total"] == 1
        assert list((victim / "index").iterdir()) == []


def test_a_run_searches_what_it_wrote_and_its_proof_leaves_the_model_out(wire: Wired) -> None:
    """A search sees the draft and comes out the same again; a model's part is told."""

    def play(body: dict[str, Any]) -> Reply:
        turn = turn_of(body)
        match phase_of(body):
            case "research" if turn == 0:
                return calls(
                    call("workspace_search", {"query": "rent"}, "s1"),
                    call("workspace_list_docs", {}, "l1"),
                    call("workspace_get_doc", {"title": "lease"}, "g1"),
                    call("workspace_summarize", {"text": LONG}, "m1"),
                )
            case "plan":
                return text(PLAN)
            case "implement" if turn == 0:
                content = "The rent of the second hall is 900 euros."
                return calls(call("write_text_file", {"path": "hall.txt", "content": content}, "w"))
            case "implement" if turn == 1:
                return calls(call("workspace_search", {"query": "rent hall", "top_k": 1}, "s2"))
            case _:
                return text("All done.")

    wire.script.instead = play
    try:
        workbench_id = wire.workbench(lease__txt=LEASE, harbour__md=HARBOUR)
        run = wire.daemon.run_prompt(workbench_id, "look")
    finally:
        wire.script.instead = None
    assert run["status"] == "finished", run
    data = [e["data"] for e in wire.daemon.events(workbench_id) if e["type"] == "ToolReturned"]
    returned = {each["call_id"]: each for each in data}
    assert all(each["ok"] for each in returned.values()), returned
    assert "lease.txt" in returned["s1"]["shown"]
    assert "hall.txt" in returned["s2"]["shown"]
    assert "outside" not in returned["s1"]
    assert returned["m1"]["outside"]["model_id"] == MODEL

    proof = wire.ask("ReplayRun", run_id=run["run_id"])
    assert (proof["calls"], proof["equal"], proof["divergences"]) == (5, 5, [])
    ((skipped),) = proof["skipped"]
    assert skipped["call_id"] == "m1"
    assert MODEL in skipped["reason"]
    for no_path in ("kbd_one", "/with\0nul"):
        refused = wire.refused("ReplayRun", run_id=run["run_id"], with_plugin=no_path)
        assert refused.data["error_code"] == "VALIDATION_FAILED"
        assert "must be an absolute path" in refused.message
