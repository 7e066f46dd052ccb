"""Wire methods: what a format's capabilities give, what it declares, who may claim a name."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.hooks import EntryPoint, PluginError
from kbd.core.plugins.host import Plugins, check_format
from kbd.core.plugins.wire_methods import tool_method_of, wire_methods_of
from kbd.core.runtime.settings import Settings
from kbd.formats import FormatHandler, Printable
from kbd.requests import formats as wire
from kbd.requests.openrpc import openrpc_document
from kbd.tools import Tool, ToolContext, ToolResult
from kbd.types import Effect
from tools.small_formats import AlbumFormat, BookFormat, LinesFormat, StyledBook

Discover = Callable[..., Plugins]


class Reads(LinesFormat):
    """Declares a reading beside what its capabilities give."""

    wire_reads: ClassVar[Mapping[str, tuple[str, ...]]] = {"ReadLines": ("line_start",)}


class Fewer(Reads):
    """Declares one of those alone; its readings stay."""

    wire_methods = ("GetMap",)


class Silent(BookFormat):
    """Has none."""

    wire_methods = ()


class Strange(LinesFormat):
    """Declares what no capability of it gives."""

    wire_methods = ("GetMap", "ApplyOps")


class Renamed(LinesFormat):
    """Calls the method that answers its facts otherwise, and has no other."""

    wire_info = "GetMetadata"
    wire_methods = ("GetMetadata",)


class Misinformed(LinesFormat):
    """Calls it as no method is called."""

    wire_info = "get metadata"


class Misread(LinesFormat):
    """Reads by a coordinate that it does not know."""

    wire_reads: ClassVar[Mapping[str, tuple[str, ...]]] = {"ReadRange": ("sheet",)}


class Shown(AlbumFormat):
    """Declares no method beside its previews."""

    wire_methods = ()
    wire_reads: ClassVar[Mapping[str, tuple[str, ...]]] = {}


class Printed(LinesFormat, Printable):
    """Is printed by a program, page by page, and declares no other method."""

    wire_methods = ()


class Misprinted(Printed):
    """Names a filter that no program has."""

    print_filters: ClassVar[Mapping[str, str]] = {".plate": "one\ntwo"}


class Missuffixed(AlbumFormat):
    """Has documents printed under a suffix that is none."""

    print_suffix = "../plate"


class Misnamed(LinesFormat):
    """Has a reading with a name that no method has."""

    wire_reads: ClassVar[Mapping[str, tuple[str, ...]]] = {"read lines": ("line_start",)}


def named(handler: FormatHandler) -> list[str]:
    """The names of a format's methods."""
    return [method.kind.method for method in wire_methods_of(handler)]


@pytest.mark.parametrize(
    ("handler", "methods"),
    [
        (Reads(), ["LinesGetInfo", "LinesGetMap", "LinesExtractText", "LinesReadLines"]),
        (Fewer(), ["LinesGetMap", "LinesReadLines"]),
        (Silent(), []),
        (Renamed(), ["LinesGetMetadata"]),
        (Shown(), ["ReviewGetAlbumPreviewSlide"]),
        (Printed(), ["ReviewGetLinesPreviewPage"]),
        (
            AlbumFormat(),
            ["AlbumGetInfo", "AlbumGetMap", "AlbumExtractText", "AlbumGetLines",
             "ReviewGetAlbumPreviewSlide"],
        ),
        (BookFormat(), ["BookGetInfo", "BookGetMap", "BookExtractText", "BookApplyOps"]),
        (
            StyledBook(),
            ["BookGetInfo", "BookGetMap", "BookExtractText", "BookApplyOps", "BookGetStyles",
             "BookCopyAssets"],
        ),
    ],
)  # fmt: skip
def test_capabilities_give_methods(handler: FormatHandler, methods: list[str]) -> None:
    """Each its own, unless the format declares fewer."""
    assert named(handler) == methods


@pytest.mark.parametrize(
    ("handler", "fault"),
    [
        (Strange(), "wire_methods names ApplyOps, which no capability gives"),
        (Misinformed(), "Misinformed.wire_info"),
        (Misread(), "Misread.wire_reads"),
        (Misnamed(), "Misnamed.wire_reads"),
    ],
)
def test_what_is_declared_wrongly_is_a_fault(handler: FormatHandler, fault: str) -> None:
    """The message says which attribute."""
    with pytest.raises(PluginError, match=fault):
        wire_methods_of(handler)


def test_facts_are_asked_for_under_the_name_declared() -> None:
    """Whatever it is called, it is the request that a handler's `info` answers."""
    (method,) = wire_methods_of(Renamed())
    assert method.base is wire.GetInfo
    assert issubclass(method.kind, wire.GetInfo)


def test_a_method_is_a_request_like_the_others() -> None:
    """It is told by its name, takes the reading's coordinates, and refuses the rest by name."""
    kinds = {method.kind.method: method.kind for method in wire_methods_of(Reads())}
    read = kinds["LinesReadLines"]
    assert issubclass(read, wire.ReadRegion)
    asked: dict[str, Any] = {"workbench_id": "0" * 16, "path": "a.txt"}
    request = msgspec.convert({**asked, "line_start": 3}, read)
    assert msgspec.structs.asdict(request)["line_start"] == 3
    for strange in ("line_count", "sheet", "surprise"):
        with pytest.raises(msgspec.ValidationError, match=f"`{strange}`"):
            msgspec.convert({**asked, strange: 3}, read)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({**asked, "line_start": "3"}, read)


@pytest.mark.parametrize(
    ("handler", "attribute"), [(Misprinted(), "print_filters"), (Missuffixed(), "print_suffix")]
)
def test_what_is_declared_of_prints_is_checked(handler: FormatHandler, attribute: str) -> None:
    """It becomes part of a program's command line."""
    with pytest.raises(PluginError, match=f"{attribute} is not as kbd needs it"):
        check_format(handler)


def test_objects_and_previews_have_requests_of_their_own() -> None:
    """A reading with objects answers plain values; a preview is asked for by what it shows."""
    kinds = {method.kind.method: method for method in wire_methods_of(AlbumFormat())}
    assert kinds["AlbumGetLines"].base is wire.ReadObjects
    shown = kinds["ReviewGetAlbumPreviewSlide"].kind
    asked: dict[str, Any] = {"workbench_id": "0" * 16, "path": "a.album"}
    first = msgspec.structs.asdict(msgspec.convert(asked, shown))
    assert (first["slide_index"], first["edge_px"]) == (0, 1200)
    for strange in ({"page": 1}, {"slide_index": -1}, {"edge_px": 5000}):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({**asked, **strange}, shown)


def test_text_is_extracted_by_the_formats_coordinates() -> None:
    """Each readable format's own, all of which may be left out."""
    (extract,) = (
        method.kind for method in wire_methods_of(LinesFormat()) if method.base is wire.ExtractText
    )
    asked: dict[str, Any] = {"workbench_id": "0" * 16, "path": "a.txt"}
    msgspec.convert(asked, extract)
    request = msgspec.structs.asdict(msgspec.convert({**asked, "line_count": 3}, extract))
    assert (request["line_count"], request["line_start"]) == (3, msgspec.UNSET)
    with pytest.raises(msgspec.ValidationError, match="`sheet`"):
        msgspec.convert({**asked, "sheet": "S"}, extract)


def test_the_openrpc_document_has_the_operations() -> None:
    """Who reads it learns each operation's fields; references lead somewhere."""
    methods = {method.kind.method: method.kind for method in wire_methods_of(StyledBook())}
    document = openrpc_document(methods, "1")
    apply = next(each for each in document["methods"] if each["name"] == "BookApplyOps")
    (ops,) = (each["schema"] for each in apply["params"] if each["name"] == "ops")
    fields = [set(each["properties"]) for each in ops["items"]["anyOf"]]
    assert fields == [{"op", "sheet", "rows", "columns"}, {"op", "sheet"}]
    assert apply["summary"].endswith("(book files).")
    assert "AssetParam" in document["components"]["schemas"]


PLUGIN = """
from kbd import hookimpl
from tools.small_formats import BookFormat, LinesFormat

class Rival(BookFormat):
    name, suffixes = "rival", {".rival": "application/json"}

class Own(LinesFormat):
    name, wire_name, suffixes = "own", "Workbench", {".own": "text/plain"}
    wire_reads = {"Open": ("line_start",)}

class Strange(LinesFormat):
    wire_methods = ("ApplyOps",)

@hookimpl
def kbd_register_formats():
    return [FORMAT()]
"""


@pytest.fixture
def discover(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Discover:
    """Make a plugin for each of these formats, and discover them in this order."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def discovered(*formats: str, blocked: str = "") -> Plugins:
        points = []
        for place, name in enumerate(formats):
            module = f"contributed_{place}_{tmp_path.name.replace('-', '_')}"
            (tmp_path / f"{module}.py").write_text(PLUGIN.replace("FORMAT", name))
            points.append(EntryPoint(f"p{place}", module))
        return Plugins.discover(Settings(blocked_plugins=(blocked,)), found=points)

    return discovered


def methods(plugins: Plugins) -> dict[str, str]:
    """The methods of the catalog, each with the plugin that brings it."""
    return {each.item.kind.method: each.plugin.name for each in Catalog(plugins).methods()}


def test_of_two_that_claim_a_name_the_second_is_left_out(discover: Discover) -> None:
    """Its format is there all the same; its status says why it has no methods."""
    plugins = discover("BookFormat", "Rival")
    assert methods(plugins) == dict.fromkeys(named(BookFormat()), "p0")
    first, second = plugins.statuses
    assert (first.status, first.reason, second.status) == ("loaded", None, "loaded")
    assert second.reason == "; ".join(
        f"method {name} is left out: plugin p0 brings one, too" for name in named(BookFormat())
    )
    assert [each.item.name for each in plugins.formats] == ["book", "rival"]


def test_a_name_of_kbds_own_is_not_taken(discover: Discover) -> None:
    """A format whose prefix makes one keeps its other methods."""
    plugins = discover("Own")
    assert "WorkbenchOpen" not in methods(plugins)
    assert "WorkbenchGetMap" in methods(plugins)
    (status,) = plugins.statuses
    assert status.reason == "method WorkbenchOpen is left out: it is one of kbd's own"


def test_a_plugin_that_is_left_out_brings_none(discover: Discover) -> None:
    """Neither one that is blocked, nor one whose declaration is wrong."""
    plugins = discover("BookFormat", "Strange", blocked="p0")
    assert methods(plugins) == {}
    assert [each.status for each in plugins.statuses] == ["blocked", "left_out"]
    assert "wire_methods names ApplyOps" in (plugins.statuses[1].reason or "")


class _Named(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file, and how much of it."""

    path: str
    count: int = 3
    words: list[str] = []


class _Rooted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What every method of a tool that reads has."""

    root: str


class _NamedTool(Tool):
    """A tool with a method of its own."""

    name = "named"
    description = "Reads."
    arguments: type[msgspec.Struct] = _Named
    effect: ClassVar[Effect] = Effect.READ
    wire_method: ClassVar[str] = "NamedRead"

    async def run(self, context: ToolContext, arguments: Any) -> ToolResult:
        """Return what it was given."""
        return ToolResult(arguments)


def test_a_tools_method_has_its_arguments_as_parameters() -> None:
    """With their defaults, beside the workbench and the version; a writing one has no version."""
    kind = tool_method_of(_NamedTool())
    assert kind is not None
    assert kind.method == "NamedRead"
    given = {"workbench_id": "0" * 16, "path": "a.csv"}
    made = msgspec.convert(given, kind)
    assert msgspec.to_builtins(made) == {**given, "count": 3, "words": []}
    with pytest.raises(msgspec.ValidationError, match="unknown field `rwos`"):
        msgspec.convert({**given, "rwos": 1}, kind)

    class Writes(_NamedTool):
        """It writes."""

        effect = Effect.WRITE

    writing = tool_method_of(Writes())
    assert writing is not None
    assert "root" not in writing.__struct_fields__


def test_a_tools_method_must_fit() -> None:
    """A name that is none is refused, as are arguments called like a parameter of all methods."""

    class Misnamed(_NamedTool):
        """Its method has no name."""

        wire_method = "no name"

    class Taken(_NamedTool):
        """Its argument is taken."""

        arguments = _Rooted

    for strange in (Misnamed(), Taken()):
        with pytest.raises(PluginError, match=r"wire_method or its arguments"):
            tool_method_of(strange)
