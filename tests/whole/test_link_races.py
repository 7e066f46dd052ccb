"""Links that are swapped in while paths are opened lead nothing out, and no secret in.

The first tier runs what opens paths for a second, the second tier methods and tools for two; the
soak runs both for ten. What is counted is printed.
"""

import hashlib
import json
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from backends import mostly
from kbd.client.blocking import Client, RemoteError
from kbd.core.audit.restore import restore
from kbd.core.audit.whole_paths import NewFolder, write_whole
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.host import Plugins
from kbd.core.runtime.settings import Settings
from kbd.core.watch.tree import WatchedTree
from kbd.core.workbench.destination import hold_destination
from kbd.core.workbench.extraction import copy_to_folder, find_copy, remove_partial
from kbd.core.workbench.file_store import FileStore
from kbd.core.workbench.sandbox import ConfinedRoot
from kbd.core.workbench.sources import copy_source
from kbd.errors import KbdError
from kbd.events.base import FileVersion
from kbd.events.blobs import BlobStore
from kbd.events.disk import DISK
from kbd.events.drafts import EffectIntended
from kbd.types import BlobHash, FileName
from whole.link_swaps import LinkSwaps
from whole.path_calls import is_path, named_calls
from wired import Wired, wired

SECRET = "the-secret-outside"

INTERNAL = -32603
"""The code of a fault inside."""

RARELY = 16
"""Every so many rounds what is slow is called, too, and a file lands."""

KINDS = {"Docx": "sub/d.docx", "Xlsx": "sub/b.xlsx", "Pptx": "sub/p.pptx", "Table": "sub/a.csv"}
"""The file that a method of a format is given, by a part of the method's name."""

OPERATIONS = {
    "docx": {"op": "append_paragraph", "text": "mine"},
    "xlsx": {"op": "ensure_sheet", "sheet": "S"},
    "pptx": {"op": "add_slide", "title": "mine"},
}
"""What makes such a file, and changes it."""

JOB = {
    "inputs": [{"name": "t", "file": "sub/a.csv"}],
    "steps": [{"do": "write", "file": "sub/job.xlsx"}],
}
OUTPUTS = [{"target_path": "sub/sheets.xlsx", "sheets": [{"query": "SELECT * FROM data"}]}]

NOT_RACED = {"WorkspaceReloadIndex"}
"""Its database opens its files by their path: that is checked before, and not held."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the swap is Linux's")

DURATIONS = [1.0, pytest.param(10.0, marks=pytest.mark.soak)]


def _tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text() if path.is_file() else ""
        for path in sorted(folder.rglob("*"))
    }


class _Opened:
    """Whatever opens a path in the daemon, called directly, on names that are being swapped."""

    def __init__(self, base: Path) -> None:
        self.base, self.home, self.outside = base, base / "home", base / "outside"
        for name in (
            "home",
            "outside/deep",
            "outside/empty",
            "out/sub",
            "root/sub",
            "stage",
            "watched/sub",
            "in",
        ):
            (base / name).mkdir(parents=True)
        for name in ("a.txt", "deep/a.txt"):
            (self.outside / name).write_text(SECRET)
        for name in ("root/sub/a.txt", "watched/sub/a.txt", "in/a.txt"):
            (base / name).write_text("mine")
        self.store = BlobStore(base / "blobs")
        self.blob = self.store.put_bytes(b"mine")
        self.root = ConfinedRoot(base / "root")
        self.files = FileStore(base / "root", base / "root", base / "stage", self.store)
        self.seen: set[bytes] = set()
        self.number = 0

    def ways(self) -> dict[str, Callable[[], object]]:
        """Return what opens a path, each by its name."""
        return {
            "ConfinedRoot.open": lambda: self._read(self.root.open(FileName("sub/a.txt"))),
            "ConfinedRoot.names": self.root.names,
            "FileStore.place": lambda: self.files.place(FileName(f"sub/{self._next()}"), self.blob),
            "FileStore.remove": lambda: self.files.remove(FileName(f"sub/{self.number}")),
            "FileStore.show_drafted": lambda: self.files.show_drafted(
                {FileName(f"sub/n/{self._next()}"): self.blob, FileName("sub/empty/gone"): None}
            ),
            "copy_to_folder, extract": lambda: self._copy("extract"),
            "copy_to_folder, deliver": lambda: self._copy("deliver"),
            "write_whole": lambda: write_whole(self._target(), b"mine", lambda: None),
            "NewFolder": self._make_folder,
            "hold_destination": self._hold,
            "copy_source": lambda: copy_source(self.store, str(self.base / "in" / "a.txt"), 999),
            "WatchedTree": self._watch,
        }

    def _next(self) -> str:
        self.number += 1
        return str(self.number)

    def _read(self, opened: Any) -> None:
        with opened as held, open(held, "rb", closefd=False) as file:
            self.seen.add(file.read())

    def _copy(self, kind: Any) -> None:
        file = FileVersion(FileName("sub/a.txt"), self.blob, 4)
        effect = EffectIntended(self._next(), kind, str(self.base / "out"), file)
        try:
            copy_to_folder(effect, self.store, self.home)
            if kind == "deliver":
                find_copy(effect)
        finally:
            remove_partial(effect)

    def _target(self) -> Path:
        # Of a resolved path: no part of it is followed, should it become a link.
        return self.base / "out" / "sub" / f"race-{self._next()}"

    def _make_folder(self) -> None:
        made = NewFolder(self._target(), DISK)
        try:
            (made.folder / "a.txt").write_text("mine")
            made.land()
        finally:
            made.remove()

    def _hold(self) -> None:
        with hold_destination(str(self.base / "out"), f"sub/{self._next()}", self.home, make=True):
            pass

    def _watch(self) -> None:
        with WatchedTree(str(self.base / "watched")) as tree:
            for found in tree.walk():
                if found.kind == "file":
                    self._read(tree.open(found.raw))


@pytest.mark.full
@pytest.mark.parametrize("seconds", DURATIONS)
def test_nothing_that_opens_a_path_is_led_out(tmp_path: Path, seconds: float) -> None:
    """Files, folders, copies, partials, sources, watched folders: 0 escapes, and typed errors."""
    opened = _Opened(tmp_path.resolve())
    before, found = _tree(opened.outside), Counter[str]()
    swaps = LinkSwaps()
    for name in ("root/sub", "out/sub", "watched/sub"):
        swaps.add(opened.base / name, opened.outside)
    swaps.add(opened.base / "in" / "a.txt", opened.outside / "a.txt")
    with swaps:
        ways, end = opened.ways(), time.monotonic() + seconds
        while time.monotonic() < end:
            for name, way in ways.items():
                try:
                    way()
                    found[f"{name}: done"] += 1
                except (KbdError, OSError):
                    found[f"{name}: refused"] += 1
    total = sum(found.values())
    print(f"\n{total} calls, {swaps.count} swaps, 0 escapes: {dict(sorted(found.items()))}")
    assert _tree(opened.outside) == before
    assert opened.seen <= {b"mine"}
    assert not opened.store.has(BlobHash(hashlib.sha256(SECRET.encode()).hexdigest()))
    assert {name.partition(":")[0] for name in found} == set(ways)
    assert min(sum(found[f"{name}: {end}"] for end in ("done", "refused")) for name in ways) > 10
    raced = [name for name in ways if found[f"{name}: refused"] and found[f"{name}: done"]]
    assert len(raced) >= len(ways) - 4, found


@pytest.fixture(scope="module", params=mostly("asyncio"))
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend."""
    with wired(
        str(request.param), more={"KBD_LIMITS_FILES": "200", "KBD_LIMITS_FILE_BYTES": "1000000"}
    ) as running:
        yield running


def _tools() -> dict[str, Any]:
    """Return the arguments of each tool."""
    described = (
        msgspec.to_builtins(entry.schema) for entry in Catalog(Plugins.discover(Settings())).tools()
    )
    return {each["name"]: each["parameters"] for each in described}


class _Raced:
    """Methods and tools of a daemon, called on names that are being swapped.

    Names of the machine are swapped with links into the home, where nothing may go, or, of files,
    to a secret. Names of the workbench's folders are swapped with links to somebody's folder.
    """

    def __init__(self, wire: Wired, client: Client, swaps: LinkSwaps) -> None:
        self._wire, self._client = wire, client
        self.found: Counter[str] = Counter()
        self.base = wire.folder / "race"
        self.outside = wire.folder / "outside"
        self.workbench_id = wire.workbench(t__csv="a,b\n1,2\n")
        for name in ("here", "out/sub", "in", "watched/sub", "restored"):
            (self.base / name).mkdir(parents=True)
        (self.outside / "sub").mkdir(parents=True)
        for name in ("a.csv", "s.txt"):
            (self.outside / name).write_text(SECRET)
        self._tool("write_text_file", path="sub/n.txt", content="mine")
        self._tool("table_export", path="t.csv", target_path="sub/a.csv", format="csv")
        for kind, operation in OPERATIONS.items():
            made = {"path": KINDS[kind.title()], "operations": [operation], "create_new": True}
            self._tool(f"{kind}_operations", **made)
        self._ask("DraftPublish")
        self.backup = self.base / "backup"
        client.send("BackupCreate", {"target": str(self.backup)})
        swaps.add(self.backup / "workbenches" / self.workbench_id / "blobs", self.outside)
        run = wire.draft(self.workbench_id, made__txt="x")
        self._ask("DraftDiscard")
        self.run_id = run["run_id"]
        (self.base / "in" / "s.txt").write_text("mine")
        root = wire.published(self.workbench_id).parent
        (root / "draft" / "sub").mkdir(parents=True)
        for path in (root / "published" / "sub", root / "draft" / "sub", self.base / "out" / "sub"):
            swaps.add(path, self.outside)
        self._watch(swaps)
        swaps.add(self.base / "here", wire.daemon.home)
        swaps.add(self.base / "in" / "s.txt", self.outside / "s.txt")
        self._number = 0
        self.untyped = self.secrets_told = 0
        self._tools = _tools()
        self._document = client.send("rpc.discover", {})
        self.described = {method["name"]: method for method in self._document["methods"]}

    def _watch(self, swaps: LinkSwaps) -> None:
        """Watch a folder, whose results are delivered, through links as they may be."""
        self._wire.script.writes = {"sub/made.txt": "mine", "made.txt": "mine"}
        watched = self.base / "watched"
        (watched / "sub" / "first.txt").write_text("mine")
        rule = {"publish": "auto", "deliver_to": str(self.base / "out"), "quiet_s": 0.1}
        added = self._client.send("WatchAdd", {"folder": str(watched), "prompt": "write", **rule})
        self.watch_id = added["watch_id"]
        swaps.add(watched / "sub", self.outside)

    def _ask(self, method: str, **params: Any) -> Any:
        return self._client.send(method, {"workbench_id": self.workbench_id, **params})

    def _tool(self, name: str, **arguments: Any) -> Any:
        return self._ask("ToolsCall", name=name, arguments=arguments)

    def round(self) -> None:
        """Make all calls of one round."""
        for method, params in self.calls():
            self.call(method, params)
        self.restore()

    def calls(self) -> list[tuple[str, dict[str, Any]]]:
        """Return a call of each method that is given a place of the machine, and of each tool."""
        self._number += 1
        here, fresh = str(self.base / "here"), str(self.base / "here" / f"race-{self._number}")
        source, out = str(self.base / "in" / "s.txt"), str(self.base / "out")
        another = self._client.send("WorkbenchCreate", {"name": "added to"})["workbench_id"]
        names = ["sub/n.txt", "sub/a.csv"]
        rare = [
            ("BackupCreate", {"target": fresh}),
            ("ReplayRun", {"run_id": self.run_id, "with_plugin": fresh}),
            ("WatchTest", {"folder": here}),
        ]
        is_rare = self._number % RARELY == 1
        if is_rare:
            (self.base / "watched" / f"landed{self._number}.txt").write_text("mine")
        # These read stored bytes, and are slower: each takes a worker.
        tools = [self._tool_call(name, {}) for name in self._tools]
        return [
            ("WorkbenchFilesAdd", {"workbench_id": another, "source_paths": [source]}),
            ("WorkbenchFilesExtract", {"destination_dir": out, "workbench_paths": names}),
            ("WorkbenchFilesExtract", {"destination_dir": here, "workbench_paths": ["t.csv"]}),
            ("WorkbenchRecover", {"destination_dir": fresh}),
            ("ContextSet", {"category": "situation", "source_path": source}),
            ("StateAt", {"seq": 5, "destination_dir": fresh}),
            ("RunExport", {"run_id": self.run_id, "target": f"{fresh}.zip"}),
            ("WatchAdd", {"folder": here, "prompt": "x", "deliver_to": fresh, "publish": "auto"}),
            self._tool_call("write_text_file", {"path": f"sub/{self._number % 20}.txt"}),
            ("ReviewGetHtml", {"target": f"{fresh}.html"}),
            ("DraftPublish", {}),
            *(rare if is_rare else ()),
            *(tools if is_rare else ()),
            *(self._named_calls() if is_rare else ()),
        ]

    def _named_calls(self) -> list[tuple[str, dict[str, Any]]]:
        """Return a call of each method that takes a name in a workbench, on a file in `sub`."""
        return list(named_calls(self._document, self._usual))

    def _usual(self, method: str) -> dict[str, Any]:
        """Return what a method is given that takes a name in a workbench."""
        path = next((KINDS[kind] for kind in KINDS if kind in method), "sub/n.txt")
        return {
            "workbench_id": self.workbench_id, "path": path, "paths": [path],
            "workbench_paths": ["sub/gone.txt"], "source_path": path,
            "target_path": f"sub/new{self._number}{path[5:]}", "assets": ["x"],
            "ops": [OPERATIONS.get(method[:4].lower(), {})], "place": {"title": "1", "line": 1},
            "destination_dir": str(self.base / "here" / f"race-{self._number}-named"),
        }  # fmt: skip

    def restore(self) -> None:
        """Restore a backup, a folder in which is being swapped, as `kbd restore` does."""
        home = self.base / "restored" / str(self._number)
        try:
            restore(self.backup, home)
        except (KbdError, OSError) as error:
            self.found[f"restore: {getattr(error, 'code', type(error).__name__)}"] += 1
        else:
            self.found["restore: ok"] += 1
            shutil.rmtree(home)

    def _tool_call(self, name: str, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return a call of a tool on files in the folder that is being swapped."""
        required = self._tools[name].get("required", ())
        usual = {
            "path": "sub/a.csv", "source_path": "sub/a.csv", "target_path": "sub/new.xlsx",
            "content": "mine", "query": "SELECT * FROM data", "format": "xlsx", "sheet": "S",
            "mode": "replace_sheet", "row_start": 1, "row_count": 1, "operations": [],
            "assets": ["x"], "entry_id": 1, "job": JOB, "outputs": OUTPUTS,
        }  # fmt: skip
        arguments = {each: usual[each] for each in required} | given
        return "ToolsCall", {"name": name, "arguments": arguments}

    def call(self, method: str, params: dict[str, Any]) -> None:
        """Make a call; its answer has a code, or is an ordinary one."""
        has_workbench = any(
            each["name"] == "workbench_id" for each in self.described[method]["params"]
        )
        named = {"workbench_id": self.workbench_id} if has_workbench else {}
        shown = params.get("name", method) if method == "ToolsCall" else method
        try:
            answer = self._client.send(method, {**named, **params})
        except RemoteError as error:
            told = f"{error.message} {json.dumps(error.data)}"
            self.found[f"{shown}: {error.error_code or error.code}"] += 1
            self.untyped += error.code == INTERNAL
        else:
            told = json.dumps(answer)
            self.found[f"{shown}: ok"] += 1
            if method == "WatchAdd":
                self._client.send("WatchRemove", {"watch_id": answer["watch_id"]})
        self.secrets_told += SECRET in told


def _escapes(raced: _Raced, wire: Wired, before: dict[str, str], top: set[str]) -> list[str]:
    """Return what went where nothing may go, or came from where nothing may be read."""
    home, sha256 = wire.daemon.home, hashlib.sha256(SECRET.encode()).hexdigest()
    found = [f"outside: {name}" for name in _tree(raced.outside).items() ^ before.items()]
    found += [f"home: {name}" for name in {path.name for path in home.iterdir()} ^ top]
    # By a walk that passes over folders of the daemon that go meanwhile.
    found += [
        f"home: {os.path.join(folder, name)}"
        for folder, folders, files in os.walk(home)
        for name in (*folders, *files)
        if name.startswith("race-")
    ]
    found += [f"secret: {path}" for path in home.glob(f"workbenches/*/blobs/{sha256}")]
    text = wire.ask("ContextGet", workbench_id=raced.workbench_id, category="situation")["text"]
    return [*found, *(["secret: a context item"] if SECRET in text else [])]


@pytest.mark.parametrize("seconds", [pytest.param(2.0, marks=pytest.mark.full), DURATIONS[1]])
def test_no_method_and_no_tool_is_led_out(wire: Wired, seconds: float) -> None:
    """Each that is given a place, and each tool on a name in published/ and draft/ (A18).

    0 escapes, 0 answers without a code, and nothing of a secret in any answer.
    """
    swaps = LinkSwaps()
    with wire.daemon.client() as client:
        raced = _Raced(wire, client, swaps)
        before, top = _tree(raced.outside), {path.name for path in wire.daemon.home.iterdir()}
        with swaps:
            # The first round calls everything; how long that takes hangs on the machine.
            raced.round()
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                raced.round()
        # Every method with a parameter for a place of the machine, or for a name, was among them.
        with_places = {
            name
            for name, each in raced.described.items()
            if any(is_path(one["name"]) for one in each["params"])
        } - NOT_RACED
        landed = client.send("WatchGet", {"watch_id": raced.watch_id})["watch"]
        client.send("WatchRemove", {"watch_id": raced.watch_id})
    escapes = _escapes(raced, wire, before, top)
    shutil.rmtree(raced.base)
    shutil.rmtree(raced.outside)
    counts = f"{raced.found.total()} calls, {swaps.count} swaps, {len(escapes)} escapes"
    print(f"\n{counts}, {raced.untyped} untyped, {raced.secrets_told} secrets told")
    print(dict(sorted(raced.found.items())), landed["landed"], landed["outcomes"])
    assert escapes == []
    assert landed["landed"] > 0
    assert (raced.untyped, raced.secrets_told) == (0, 0)
    called = {name.partition(":")[0] for name in raced.found}
    assert with_places <= called
    assert set(_tools()) <= called
    assert wire.ask("LogVerify", workbench_id=raced.workbench_id)["ok"]
