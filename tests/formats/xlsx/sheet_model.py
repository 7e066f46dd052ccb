"""A plain model of a sheet and of what edits do to it, and random sheets to try it on."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from kbd.sheets.areas import Area, cell_name
from kbd_xlsx.parts.cells import CellEdit, Content
from sheet_reader import MAIN, STYLES, Place

ROWS, COLUMNS = 9, 6
STRINGS = ("zero", "one", "two")

TEXTS = ["", "x", " y ", "a<b>&\"c'", "two\nlines", "ä€😀", "]]>", "tab\tin"]
NUMBERS = ["1", "-2.5", "1E+20", "0"]


def restyle(base: int, edit: CellEdit) -> int:
    """A stand-in for styles: each look moves the index on by so many."""
    return (base + sum(int(look["by"]) for look in edit.styles)) % STYLES


@dataclass
class Model:
    """A sheet: contents as (kind, text), with what each cell shows as its style."""

    contents: dict[Place, tuple[str, str]] = field(default_factory=dict)
    results: dict[Place, str] = field(default_factory=dict)
    styles: dict[Place, int] = field(default_factory=dict)
    base_styles: Callable[[Place], int] = lambda _: 0
    merges: list[Area] = field(default_factory=list)
    touched: set[int] = field(default_factory=set)
    shared: dict[Place, list[Place]] = field(default_factory=dict)
    widths: dict[int, float] = field(default_factory=dict)
    heights: dict[int, float] = field(default_factory=dict)
    frozen: Place = (0, 0)

    def style(self, place: Place) -> int:
        """The style that a cell shows."""
        return self.styles.get(place, self.base_styles(place))

    def put(self, place: Place, content: Content | None) -> None:
        """Change what a cell holds; None keeps it."""
        self.touched.add(place[0])
        if content is None:
            return
        # A shared formula's children are written anew when its master goes.
        for child in self.shared.pop(place, ()):
            self.touched.add(child[0])
        self.results.pop(place, None)
        self.contents.pop(place, None)
        if content.kind != "blank":
            self.contents[place] = (content.kind, content.text)

    def accepts(self, place: Place, content: Content | None) -> bool:
        """Whether a content may go into a cell: not into one that is hidden by a merge."""
        if content is None or content.kind == "blank":
            return True
        return all(
            place not in cells(area) or place == (area.top, area.left) for area in self.merges
        )

    def may_merge(self, area: Area) -> bool:
        """Whether an area overlaps no merge and holds nothing but in its first cell."""
        inside = cells(area)
        free = not any(set(cells(other)) & set(inside) for other in self.merges)
        return free and not any(place in self.contents for place in inside[1:])


def cells(area: Area) -> list[Place]:
    """Every cell of an area, its anchor first."""
    return [
        (row, column)
        for row in range(area.top, area.bottom + 1)
        for column in range(area.left, area.right + 1)
    ]


@dataclass
class Base:
    """A random part: its bytes, the rows as written, and what it holds."""

    part: bytes
    prefix: str
    rows: dict[int, bytes]
    model: Model


@st.composite
def bases(draw: st.DrawFn, *, always_named: bool = False) -> Base:
    """Draw a sheet: with a prefix or without, with names of rows and cells or without."""
    prefix = draw(st.sampled_from(["", "", "x:"]))
    named = always_named or draw(st.booleans())
    column_style = draw(st.integers(0, 2))
    model = Model()
    row_styles: dict[int, int] = {}
    own: dict[Place, int] = {}
    rows: dict[int, bytes] = {}
    numbers = (
        sorted(draw(st.sets(st.integers(1, ROWS))))
        if named
        else list(range(1, draw(st.integers(0, ROWS)) + 1))
    )
    column_of_shared = draw(st.integers(0, COLUMNS))
    master: Place | None = None
    for number in numbers:
        attributes = draw(st.sampled_from(["", ' spans="1:3"', " ht='15' q:dyDescent=\"0.25\""]))
        if draw(st.integers(0, 4)) == 0:
            row_styles[number] = draw(st.integers(0, 3))
            attributes += f' s="{row_styles[number]}" customFormat="1"'
        columns = (
            sorted(draw(st.sets(st.integers(1, COLUMNS))))
            if named
            else list(range(1, draw(st.integers(0, COLUMNS)) + 1))
        )
        texts = []
        for column in columns:
            place = (number, column)
            own[place] = draw(st.integers(0, 3))
            if column == column_of_shared:
                master = _share(model, place, master)
                text = _shared_cell(master, place)
            else:
                text = draw(_cells(model, place))
            style = f' s="{own[place]}"' if own[place] else ""
            name = f' r="{cell_name(number, column)}"' if named else ""
            texts.append(text.replace("<c", f"<c{name}{style}", 1))
        name = f' r="{number}"' if named else ""
        row = f"<row{name}{attributes}>{''.join(texts)}</row>"
        if not texts:
            row = f"<row{name}{attributes}/>"
        rows[number] = _prefixed(row, prefix)
    space = f'xmlns{":" + prefix[:-1] if prefix else ""}="{MAIN}" xmlns:q="urn:q"'
    cols = f'<cols><col min="2" max="4" style="{column_style}" width="9" hidden="0"/></cols>'
    head = _prefixed(f'<sheetFormatPr defaultRowHeight="15"/>{cols}<sheetData>', prefix)
    tail = _prefixed('</sheetData><pageMargins left="0.7"/><extLst/>', prefix)
    part = (
        b"".join((f"<{prefix}worksheet {space}>".encode(), head, *rows.values(), tail))
        + f"</{prefix}worksheet>".encode()
    )
    model.base_styles = lambda place: own.get(
        place, row_styles.get(place[0], column_style if 2 <= place[1] <= 4 else 0)
    )
    return Base(part, prefix, rows, model)


def _prefixed(text: str, prefix: str) -> bytes:
    return text.replace("<", f"<{prefix}").replace(f"<{prefix}/", f"</{prefix}").encode()


def _share(model: Model, place: Place, master: Place | None) -> Place:
    """Note a cell of the shared formula and return its master."""
    model.contents[place] = ("formula", f'$A$1+A{place[0]}&"<"')
    model.results[place] = "7"
    if master is None:
        model.shared[place] = []
        return place
    model.shared[master].append(place)
    return master


def _shared_cell(master: Place, place: Place) -> str:
    if place != master:
        return '<c><f t="shared" si="0"/><v>7</v></c>'
    area = f"{cell_name(*place)}:{cell_name(ROWS, place[1])}"
    text = f'$A$1+A{place[0]}&amp;"&lt;"'
    return f'<c><f t="shared" ref="{area}" si="0">{text}</f><v>7</v></c>'


@st.composite
def _cells(draw: st.DrawFn, model: Model, place: Place) -> str:
    match draw(st.integers(0, 5)):
        case 0:
            return draw(st.sampled_from(["<c/>", "<c></c>"]))
        case 1:
            number = draw(st.sampled_from(NUMBERS))
            model.contents[place] = ("number", number)
            return f"<c q:more='a>b'><v>{number}</v></c>"
        case 2:
            index = draw(st.integers(0, len(STRINGS) - 1))
            model.contents[place] = ("text", STRINGS[index])
            return f'<c t="s"><v>{index}</v></c>'
        case 3:
            model.contents[place] = ("text", "rich text")
            kept = '<t xml:space="preserve">rich </t>'
            return f'<c t="inlineStr"><is><r>{kept}</r><r><t>text</t></r></is></c>'
        case 4:
            model.contents[place] = ("formula", "1+1")
            model.results[place] = "2"
            return "<c><f>1+1</f><v>2</v></c>"
        case _:
            model.contents[place] = ("boolean", "1")
            return '<c t="b"><v>1</v></c>'


contents = st.one_of(
    st.just(Content("blank")),
    st.sampled_from(NUMBERS).map(lambda text: Content("number", text)),
    st.sampled_from(TEXTS).map(lambda text: Content("text", text)),
    st.sampled_from(["0", "1"]).map(lambda text: Content("boolean", text)),
    st.sampled_from(["1+2", 'IF(A1<2,"<&",B$2)']).map(lambda text: Content("formula", text)),
)
looks = st.lists(st.integers(1, 5), max_size=2).map(lambda by: tuple({"by": n} for n in by))
places = st.tuples(st.integers(1, ROWS + 2), st.integers(1, COLUMNS + 2))


@st.composite
def areas(draw: st.DrawFn) -> Area:
    (top, left), (bottom, right) = draw(places), draw(places)
    return Area(min(top, bottom), min(left, right), max(top, bottom), max(left, right))


steps: st.SearchStrategy[tuple[Any, ...]] = st.one_of(
    st.tuples(st.just("set"), places, st.one_of(contents, contents, st.none()), looks),
    st.tuples(st.just("set"), places, contents, looks),
    st.tuples(st.just("clear"), areas()),
    st.tuples(st.just("forget"), areas()),
    st.tuples(st.just("merge"), areas()),
    st.tuples(st.just("unmerge"), areas()),
    st.tuples(st.just("width"), st.integers(1, COLUMNS + 2), st.sampled_from([3.0, 12.5])),
    st.tuples(st.just("height"), st.integers(1, ROWS + 2), st.sampled_from([10.0, 20.25])),
    st.tuples(st.just("freeze"), st.tuples(st.integers(0, 3), st.integers(0, 3))),
)
