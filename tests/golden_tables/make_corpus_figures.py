"""Maker of `corpus_figures.jsonl`: what is right to read out of files of the corpora.

    KBD_CORPORA=… python tests/golden_tables/make_corpus_figures.py

The files are other people's and stay where they are: only figures and digests are kept. A person
has looked at each file and said, in `FILES`, how it is delimited and what its columns hold; the
figures are then counted by the csv module of Python, with nothing found out. Where a file does not
fit what was said of it, this stops.
"""

import csv
import io
import os
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import msgspec

# Run by its path, it finds the package that it is part of.
sys.path.append(str(Path(__file__).resolve().parent.parent))

from golden_tables.cases import Column, Figures, Kind, Value, digest, figures_of
from golden_tables.corpus_tables import RECORDS, CorpusColumn, CorpusTable

KINDS: dict[str, Kind | None] = {
    "n": "number",
    "t": "text",
    "d": "date",
    "m": "datetime",
    "b": "boolean",
    "?": None,
}
"""Kinds by their letters; `?` is a column that may be read in more than one way, or is empty."""


class Spec(msgspec.Struct, frozen=True):
    """A file as a person sees it.

    Args:
        name: Its name below `csv/`.
        kinds: A letter for each column.
        delimiter: What separates fields.
        header: Whether its first row names the columns.
        encoding: Its codec.
        layout: How its dates are written.
        order: The order of its dates, where it is not told by their form.
        above: Lines above the header that are not of the table.
        drop: What lines begin with that are not of the table.
    """

    name: str
    kinds: str
    delimiter: str = ","
    header: bool = True
    encoding: str = "utf-8-sig"
    layout: str = "%Y-%m-%d"
    order: str | None = None
    above: int = 0
    drop: str = ""


def _specs() -> Iterator[Spec]:
    """Yield what was said of each file."""
    for line in FILES.strip().splitlines():
        name, kinds, *more = line.split()
        facts = dict(part.split("=", 1) for part in more)
        delimiter = {"bar": "|", "tab": "\t", "semicolon": ";"}.get(facts.pop("by", ""), ",")
        yield msgspec.convert(
            {
                "name": name,
                "kinds": _repeated(kinds),
                "delimiter": delimiter,
                "header": facts.pop("header", "yes") == "yes",
                "above": int(facts.pop("above", "0")),
                **facts,
            },
            Spec,
        )


def _repeated(kinds: str) -> str:
    """Write out letters with a count behind them: `tn3` is `tnnn`."""
    found = ""
    for letter in kinds:
        found = found + letter if letter in KINDS else found[:-1] + found[-1] * int(letter)
    return found


def _rows(spec: Spec, folder: Path) -> tuple[list[list[str]], int]:
    """Return a file's rows that are not empty, and how many lines are not of the table."""
    content = (folder / "csv" / spec.name).read_bytes().decode(spec.encoding)
    lines = io.StringIO(content, newline="").readlines()
    dropped = lines[: spec.above]
    rest = lines[spec.above :]
    if spec.drop:
        dropped += [line for line in rest if line.startswith(spec.drop)]
        rest = [line for line in rest if not line.startswith(spec.drop)]
    rows = [row for row in csv.reader(rest, delimiter=spec.delimiter, strict=True) if any(row)]
    return rows, sum(bool(line.strip(f"{spec.delimiter}\r\n")) for line in dropped)


def _figures(kind: Kind | None, values: Sequence[str], spec: Spec) -> Figures | None:
    held = [None if (text := value.strip()) in ("", "NULL") else text for value in values]
    # A text NULL may be kept or be nothing; what is empty may have any kind.
    if kind is None or not any(held) or (kind == "text" and "NULL" in map(str.strip, values)):
        return None
    parsed = (None if text is None else _value(kind, text, spec) for text in held)
    return figures_of(Column(None, kind, tuple(parsed), tuple(values)))


def _value(kind: Kind, text: str, spec: Spec) -> Value:
    match kind:
        case "number":
            return Decimal(text)
        case "date":
            # Dates of files have no zone.
            return datetime.strptime(text, spec.layout).date()  # noqa: DTZ007
        case "datetime":
            return datetime.fromisoformat(text)
        case _:
            return text


def _table(spec: Spec, folder: Path) -> CorpusTable:
    rows, left_out = _rows(spec, folder)
    header, data = (rows[0], rows[1:]) if spec.header else ([], rows)
    width = len(spec.kinds)
    widest = max(len(row) for row in rows)
    assert width <= widest, f"{spec.name}: {widest} columns, not {width}"
    # What is beyond the last kind holds nothing in any row.
    assert all(not any(row[width:]) for row in rows), f"{spec.name}: {widest} columns"
    names = [*header, *[""] * (width - len(header))]
    columns = []
    for place, (name, letter) in enumerate(zip(names, spec.kinds, strict=False)):
        values = [row[place] if place < len(row) else "" for row in data]
        # A name that is there before may be changed.
        is_new = name.casefold() not in {each.casefold() for each in names[:place]}
        columns.append(
            CorpusColumn(
                digest([name]) if name.strip() and is_new else "",
                _figures(KINDS[letter], values, spec),
            )
        )
    return CorpusTable(
        spec.name,
        len(data),
        tuple(columns),
        widest,
        left_out=left_out,
        encoding="utf-8" if spec.encoding == "utf-8-sig" else spec.encoding,
        delimiter=spec.delimiter,
        header_row=spec.above + 1 if spec.header else 0,
        date_order=spec.order,
    )


FILES = """
csvspectrum__comma_in_quotes.csv ttttt
csvspectrum__json.csv nt
csvspectrum__location_coordinates.csv ?ttt
csvspectrum__newlines.csv tnn
csvspectrum__quotes_and_newlines.csv nt
csvspectrum__simple.csv nnn
csvspectrum__utf8.csv nnt
docling__csv-semicolon.csv nt9dt by=semicolon
docling__csv-tab.csv nt9dt by=tab
duckdb__0.csv nnnt
duckdb__01.csv t
duckdb__01a.csv ttn by=bar
duckdb__02.csv n8 by=bar
duckdb__03a.csv t
duckdb__04.csv t4 by=bar
duckdb__04a.csv nt by=bar
duckdb__06.csv tn by=bar
duckdb__08a.csv tt by=bar
duckdb__09.csv n5 by=bar
duckdb__09d.csv t4 by=bar
duckdb__0~fb428e.csv d layout=%Y/%m/%d
duckdb__1.csv t
duckdb__10c.csv tt by=bar
duckdb__13.csv n4 by=bar
duckdb__13a.csv tnt by=bar
duckdb__13c.csv tnt by=bar
duckdb__15473.csv ttn
duckdb__17705.csv tn?
duckdb__17a.csv tt by=bar
duckdb__18a.csv ?nt by=bar
duckdb__22a.csv tnt by=bar
duckdb__23c.csv tt by=bar
duckdb__24b.csv ttt by=bar
duckdb__26b.csv tnt by=bar
duckdb__27b.csv ttt by=bar
duckdb__28.csv n9n9 by=bar
duckdb__31.csv tn5 by=bar
duckdb__32.csv n
duckdb__33.csv nn by=bar
duckdb__37.csv ttn by=bar
duckdb__39~e73458.csv n9n by=bar
duckdb__43.csv ttn7 by=bar
duckdb__43~8fd41f.csv ttn7 by=bar
duckdb__47.csv t4n6 by=bar
duckdb__48.csv n
duckdb__50.csv tnnt6?n5 by=bar
duckdb__50~f8a324.csv tnnt6?n5 by=bar
duckdb__51.csv ndn4 by=bar
duckdb__53.csv nnn by=bar
duckdb__54.csv nnn by=bar
duckdb__55.csv ntn by=bar
duckdb__56.csv tn by=bar
duckdb__57.csv t3n6 by=bar
duckdb__58.csv tn7 by=bar
duckdb__59.csv ttn8 by=bar
duckdb__61.csv nnn by=bar
duckdb__61~7330b9.csv nnn by=bar
duckdb__63.csv nnn by=bar
duckdb__63~fb3235.csv nnn by=bar
duckdb__73.csv t4nn by=bar
duckdb__73~d848c4.csv t4nn by=bar
duckdb__76.csv ttnntnn by=bar
duckdb__78.csv n9n by=bar
duckdb__87.csv n
duckdb__89.csv t5nnn by=bar
duckdb__90.csv n
duckdb__91.csv t3n by=bar
duckdb__95.csv nnn by=bar
duckdb__95~21fab8.csv nnn by=bar
duckdb__96.csv n
duckdb__96~2a1723.csv n
duckdb__97.csv nnn by=bar
duckdb__99.csv t3n5 by=bar
duckdb__Region.csv n header=no
duckdb__Sensor.csv nn header=no
duckdb__SwitchPosition.csv n4 header=no
duckdb__a2.csv d
duckdb__aoc2022_day09.csv n4t by=bar
duckdb__aoc2022_day11.csv nn by=bar
duckdb__aoc2022_day14.csv nnt by=bar
duckdb__aoc2022_day17.csv n3t by=bar
duckdb__aoc2022_day19.csv n3 by=bar
duckdb__aoc2022_day22.csv n6 by=bar
duckdb__aoc2022_day25.csv tnnbt by=bar
duckdb__asql_fluid.csv n5t by=bar
duckdb__aws_locations.csv t5n3tt
duckdb__bad_date_timestamp_mix.csv dttm?
duckdb__big_number.csv n
duckdb__byte_stream_split.csv n5 by=bar
duckdb__cast_and_maxline.csv ttdn
duckdb__customer~b889f1.csv nnt3nnmm by=bar
duckdb__data-point-wkt.csv nt
duckdb__data-polygon-wkt.csv nt
duckdb__date_example_1.csv d
duckdb__date_example_2.csv d layout=%m/%d/%y order=mdy
duckdb__date_format_percentage.csv t
duckdb__day01.csv nn by=bar
duckdb__day07.csv nn by=bar
duckdb__day14.csv nn by=bar
duckdb__day20.csv nn by=bar
duckdb__decimal_separators_csv.csv ?n
duckdb__duplicate_header_columns.csv ntt?9t
duckdb__dvr.csv nnn by=bar
duckdb__dvr~edc2f4.csv nnn by=bar
duckdb__empty_2.csv n5
duckdb__empty_4.csv n5
duckdb__error_too_little.csv nn
duckdb__error_too_many.csv nnn
duckdb__f_1.csv ntt
duckdb__file.csv n header=no
duckdb__file_4.csv n4
duckdb__film_category.csv nnm by=bar
duckdb__flummi_community_detection.csv nnn by=bar
duckdb__flummi_k_core_using_key.csv n4 by=bar
duckdb__flummi_kmeans.csv n6 by=bar
duckdb__flummi_ray.csv nt by=bar
duckdb__flush.csv t
duckdb__header_left_space.csv n
duckdb__ignore_errors.csv tt by=semicolon
duckdb__int_bol.csv nb
duckdb__issue_1254_rn.csv nn
duckdb__leading_space_numerics.csv ntt header=no
duckdb__leading_zeros2.csv t6d layout=%d/%m/%Y order=dmy
duckdb__locations_header_trailing_comma.csv ntnn
duckdb__matching_types.csv dnn header=no
duckdb__max_10.csv tn
duckdb__mixed_dates.csv nt
duckdb__mixed_decimal.csv n? by=semicolon
duckdb__multiple_casts_mixed.csv tntt
duckdb__new_line_string.csv n3t by=bar header=no
duckdb__normalize_names_2.csv ntt
duckdb__normalize_names_4.csv ntt
duckdb__not_working.csv t?
duckdb__p2strings.csv nt header=no
duckdb__part_0_0001.csv tt
duckdb__q00.csv n
duckdb__q01.csv nn by=bar
duckdb__q01~6edf83.csv n
duckdb__q01~a9ad5c.csv ttn8 by=bar
duckdb__q01~d85724.csv ttn8 by=bar
duckdb__q02.csv tnn by=bar
duckdb__q03.csv tnn by=bar
duckdb__q03~55b4a0.csv nn by=bar
duckdb__q03~bd3525.csv nndn by=bar
duckdb__q04.csv t? by=bar
duckdb__q05.csv tn by=bar
duckdb__q05~50690c.csv tn by=bar
duckdb__q05~58fff6.csv tn by=bar
duckdb__q05~bed2bf.csv tn by=bar
duckdb__q06.csv n
duckdb__q07.csv ttnn by=bar
duckdb__q07~522b1d.csv nn by=bar
duckdb__q07~cffc89.csv ttnn by=bar
duckdb__q09.csv tnn by=bar
duckdb__q09~3c9b9c.csv tnn by=bar
duckdb__q10.csv ntnnt4 by=bar
duckdb__q12.csv tnn by=bar
duckdb__q13.csv nn by=bar
duckdb__q15.csv nt3n by=bar
duckdb__q15~4d8c72.csv nt3n by=bar
duckdb__q16.csv ttnn by=bar
duckdb__q17.csv n
duckdb__q19.csv n
duckdb__q19~98bba8.csv n
duckdb__q21.csv tn by=bar
duckdb__q21~27c290.csv tn by=bar
duckdb__q26.csv t
duckdb__q31.csv nnn by=bar
duckdb__q33.csv tn by=bar
duckdb__q40.csv ndn by=bar
duckdb__requires.csv nn header=no
duckdb__sample-0.csv dt?nntn9nn
duckdb__simple.csv nn by=semicolon drop=#
duckdb__single_numeric.csv n header=no
duckdb__small_mix.csv n5
duckdb__staff.csv nttn?tnnt?m by=bar
duckdb__stat_stat_chars.csv ntn6
duckdb__stats_3_muta_10_21.csv t4n above=1
duckdb__test.csv nt
duckdb__test_null_csv.csv n?t by=bar header=no
duckdb__test~9202a1.csv nt header=no
duckdb__time_date_timestamp.csv nt?dm
duckdb__time_date_timestamp_dd-mm-yy.csv nt?d? layout=%d-%m-%Y order=dmy
duckdb__timestamp_with_tz.csv n?
duckdb__ubn3.csv nnm
duckdb__unescaped_quote.csv tn
duckdb__unionbyname_21248_2.csv n3t3?? by=bar drop=Ultima
duckdb__unnamed_columns.csv ntt?9t header=no
duckdb__using_key_union_high_water_reset.csv nnn by=bar
duckdb__using_key_union_unique_frontier.csv nnn by=bar
duckdb__weather.csv dnnn??? layout=%d-%m-%Y order=dmy
keenbench__keenbench_launch_plan.csv t3dtt
keenbench__projects.csv tdt
markitdown__test_mskanji.csv tnt encoding=cp932
pandoc__01.csv tt by=semicolon
phpss__line_break_escaped_32le.csv ttt encoding=utf-32-le
phpss__line_break_in_enclosure_with_escaped_quotes.csv ttt
phpss__premiere.utf16be.csv ttt encoding=utf-16-be
phpss__premiere.utf16lebom.csv ttt encoding=utf-16
phpss__premiere.utf32bebom.csv ttt encoding=utf-32
phpss__premiere.utf8.csv ttt
phpss__premiere.utf8bom.csv ttt
pillow__older-versions.csv t?9??
sheetjs__apachepoi_15228.xls.17.csv n4?
sheetjs__apachepoi_56702.xlsx.0.csv tnntn4?
tika__foo.csv ntn
tika__test-reserved-header.csv nttt
tika__test-simple.csv ntt
unstructured__csv-with-line-delimiter.csv ttt by=bar
unstructured__stanley-cups-with-emoji.csv ttn above=1
unstructured__stanley-cups-with-emoji.tsv ttn by=tab above=1
unstructured__stanley-cups.csv ttn above=1
unstructured__stanley-cups.tsv ttn by=tab above=1
"""
"""A line a file: its name, the kinds of its columns, and what is not as usual."""


def main() -> None:
    """Write the records."""
    folder = Path(os.environ["KBD_CORPORA"])
    tables = [_table(spec, folder) for spec in _specs()]
    RECORDS.write_bytes(b"".join(msgspec.json.encode(table) + b"\n" for table in tables))
    print(f"{len(tables)} files, {RECORDS.stat().st_size} bytes")


if __name__ == "__main__":
    main()
