"""What all tests share: both async backends, short folders for sockets, the real files."""

import gc
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

from backends import BACKENDS, WHOLE, Stride, share_of

REPOSITORY = Path(__file__).resolve().parent.parent

# No test depends on the clock. `make test` draws the same examples every time, so that a change is
# told apart from a draw; the longer tiers draw anew and twice as many, from a seed that `make`
# prints.
settings.register_profile("anew", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", settings.get_profile("anew"), derandomize=True, max_examples=30)
settings.load_profile("same")

# With thousands of tests in memory the collector's own thresholds cost an eighth of the time.
gc.set_threshold(50_000, 20, 100)


THINNED = frozenset(
    (
        "test_alignment.py", "test_answer_limits.py", "test_answers.py", "test_carrying_out.py",
        "test_checks.py", "test_clock_times.py", "test_csv_comparison.py",
        "test_dependents_shown.py", "test_disk_faults.py", "test_docx_comparison.py",
        "test_docx_hostile.py", "test_docx_styles_hostile.py", "test_equality.py",
        "test_examples.py", "test_expression_sql.py", "test_failures.py", "test_faults.py",
        "test_format_contract.py", "test_formula_totals.py", "test_functions.py",
        "test_generalization.py", "test_hostile_backup.py", "test_hostile_clients.py",
        "test_image_hostile.py", "test_job_tools.py", "test_json_arrays.py", "test_merged_jobs.py",
        "test_misreadings.py", "test_mutants.py", "test_number_reading.py", "test_odd_tables.py",
        "test_office_hostile.py", "test_office_judge.py", "test_offline_jobs.py",
        "test_offline_kinds.py", "test_offline_readings.py", "test_offline_runs.py",
        "test_open_questions.py", "test_pdf_hostile.py", "test_pptx_comparison.py",
        "test_pptx_copying.py", "test_pptx_hostile.py", "test_pptx_order.py", "test_provenance.py",
        "test_publishing.py", "test_recipe_runs.py", "test_recipe_trials.py",
        "test_rendered_text.py", "test_renderer.py", "test_request_words.py", "test_results.py",
        "test_rows_below_totals.py", "test_scan.py", "test_several_tables.py", "test_shapes.py",
        "test_spellings.py", "test_statements.py", "test_step_sql.py", "test_sums_at_the_ends.py",
        "test_table_choice.py", "test_table_export.py", "test_table_looking.py",
        "test_table_query.py", "test_table_types.py", "test_told_readings.py", "test_totals.py",
        "test_trials.py", "test_understanding.py", "test_unlabeled_totals.py",
        "test_watch_inbox.py", "test_words.py", "test_xlsx_charts.py", "test_xlsx_comparison.py",
        "test_xlsx_comparison_counts.py", "test_xlsx_hostile_parts.py",
    )
)  # fmt: skip
"""Files of which the first tier has every fifth test, as of those of conformance: each test starts
a process, plays a job or loads a table beside many that are alike, and a newcomer waits at most
four minutes. Of files of whole jobs it has every tenth. The second tier has all."""
ONE_OF, ONE_OF_WHOLE = 5, 10

SHOWN_IN_PROCESS = frozenset(
    (
        "test_archives_killed.py", "test_current_files.py", "test_damaged_archives.py",
        "test_index_harmed.py", "test_model_writes_job.py", "test_scrub.py",
        "test_small_workbench.py", "test_table_questions.py", "test_traces.py",
        "test_traces_sent.py", "test_wire_blame.py", "test_wire_conversation.py",
        "test_wire_declined.py", "test_wire_documents.py", "test_wire_edits.py",
        "test_wire_formats.py", "test_wire_pages.py", "test_wire_previews.py",
        "test_wire_rebase.py", "test_wire_receipts.py", "test_wire_recover.py",
        "test_wire_runs.py", "test_wire_search.py", "test_workbook_jobs.py",
    )
)  # fmt: skip
"""Files of whole jobs of which the first tier has none: each starts a daemon to show over the
socket what tests of the rooms, tools and formats show in process."""

FIRST_TIER = "not full and not soak"
"""What `make test` chooses."""
_NOT_FIRST = re.compile(r"^pytestmark = .*\bpytest\.mark\.(full|soak)\b", re.MULTILINE)

PROGRAMS = {
    "libreoffice": ("soffice", "LibreOffice"),
    "poppler": ("pdftotext", "Poppler"),
    "tesseract": ("tesseract", "Tesseract"),
}
"""Programs that tests need, by the marks that say so: what starts each, and its name."""


def _backend_of(item: pytest.Item) -> str:
    """Return the backend that a test runs on; "" if it runs on none."""
    return str(item.callspec.params.get("anyio_backend", "")) if hasattr(item, "callspec") else ""


def _loop_of(item: pytest.Item) -> str:
    """Return the backend that a test runs on, by whatever fixture; "" if it runs on none."""
    params = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return next((str(value) for value in params if value in BACKENDS), "")


def _on_any_loop(item: pytest.Item) -> str:
    """Return a test's name without that backend."""
    loop = _loop_of(item)
    return item.nodeid.replace(loop, "*", 1) if loop else item.nodeid


def _is_halved(item: pytest.Item) -> bool:
    """Tell whether a test's promise does not hang on the event loop.

    What tools make of files does not. What is asked over the wire goes through the same few
    functions, which the tests of the server and the conformance prove on both.
    """
    is_asked = item.path.name.startswith("test_wire_") or "tools" in item.path.parts
    return is_asked or item.get_closest_marker("halved") is not None


def _on_any_backend(item: pytest.Item) -> str:
    """Return a test's name without its backend; "" if it runs on none."""
    backend = _backend_of(item)
    return f"{item.nodeid.replace(backend, '*', 1)}" if backend else ""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a file unread of which the first tier runs nothing, unless it is asked for by name.

    Each process of a run would import it and make all of its tests.
    """
    named = {Path(argument.partition("::")[0]).resolve() for argument in config.args}
    if (
        config.getoption("markexpr") != FIRST_TIER
        or not collection_path.name.startswith("test_")
        or collection_path in named
        or collection_path.is_dir()
    ):
        return None
    if _is_shown_in_process(collection_path):
        return True
    return _NOT_FIRST.search(collection_path.read_text("utf-8")) is not None or None


# First, for by the marks that are set here pytest then chooses what to run.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave what is sampled to the second tier, and have the files of whole jobs begun first.

    So are the second backend of a test, and most tests of some files. At the end one
    process would still be at the files of whole jobs.
    """
    seen = Counter[str]()
    kinds = Counter(_on_any_backend(item) for item in items)
    for item in items:
        mark = item.get_closest_marker("sampled")
        if _is_shown_in_process(item.path):
            item.add_marker(pytest.mark.full)
        elif mark is not None:
            test = item.nodeid.partition("[")[0]
            if seen[test] % mark.args[0]:
                item.add_marker(pytest.mark.full)
            seen[test] += 1
        # By the name: the same one each time, and both have half of the tests.
        elif (
            (kind := _on_any_backend(item))
            and kinds[kind] == len(BACKENDS)
            and (_backend_of(item) != BACKENDS[crc32(kind.encode()) % len(BACKENDS)])
        ):
            item.add_marker(pytest.mark.full)
        elif _is_thinned(item) and item.get_closest_marker("full") is None:
            if seen[item.path.name] % _one_of(item):
                item.add_marker(pytest.mark.full)
            seen[item.path.name] += 1
    _leave_to_soak(config, items)
    items.sort(key=lambda item: not {"whole", "test_demo.py"} & {*item.path.parts})


def _leave_to_soak(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to the third tier what the second has a part of; a run of the third has all.

    A halved test's case is tried on one backend: that of the first tier if it is there, else they
    take turns, counted through a file, so that tests of one case do, too. Of a seeded test's cases
    each n-th is chosen by the seed of the run.
    """
    is_soak = config.getoption("markexpr") == "soak"
    draw = crc32(str(config.getoption("hypothesis_seed", None)).encode())
    numbers: dict[str, dict[str, int]] = {}
    firsts = {_on_any_loop(item) for item in items if item.get_closest_marker("full") is None}
    for item in items:
        loop, seeded = _loop_of(item), item.get_closest_marker("seeded")
        if loop and _is_halved(item):
            within, case = str(item.path), _on_any_loop(item)
            every, wanted = len(BACKENDS), -1 if case in firsts else BACKENDS.index(loop)
        elif seeded is not None:
            within, case = item.nodeid.partition("[")[0], item.nodeid
            every, wanted = seeded.args[0], draw % seeded.args[0]
        else:
            continue
        cases = numbers.setdefault(within, {})
        number = cases.setdefault(case, len(cases))
        # The first tier keeps its own.
        is_left = number % every != wanted and item.get_closest_marker("full") is not None
        if is_left or is_soak:
            item.add_marker(pytest.mark.soak)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose program is not on this machine, with the reason."""
    for mark, (program, name) in PROGRAMS.items():
        if item.get_closest_marker(mark) and shutil.which(program) is None:
            pytest.skip(f"{name} is not on this machine")


def _is_thinned(item: pytest.Item) -> bool:
    return "whole" in item.path.parts or item.path.name in THINNED


def _is_shown_in_process(path: Path) -> bool:
    return "whole" in path.parts and path.name in SHOWN_IN_PROCESS


def _one_of(item: pytest.Item) -> int:
    """Return of how many tests of a thinned file the first tier has one."""
    is_whole = "whole" in item.path.parts and "conformance" not in item.path.parts
    return ONE_OF_WHOLE if is_whole else ONE_OF


@pytest.fixture(params=BACKENDS)
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Run every async test on both backends: in the first tier on one of them, by its name."""
    return str(request.param)


@pytest.fixture(params=["share", pytest.param("whole", marks=pytest.mark.soak)])
def stride(request: pytest.FixtureRequest, anyio_backend: str) -> Stride:
    """Which points of a walk a backend takes: its share in the second tier, all in the third."""
    return WHOLE if request.param == "whole" else share_of(anyio_backend)


@pytest.fixture
def short_dir() -> Iterator[Path]:
    """A private folder with a path short enough for a Unix socket (107 bytes)."""
    folder = Path(tempfile.mkdtemp(prefix="kbd-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of real files, or a skip with its reason."""
    folder = Path(os.environ.get("KBD_CORPORA", REPOSITORY.parent / "shared" / "corpora"))
    if not folder.is_dir():
        pytest.skip("the corpora of real files are not beside the project")
    return folder
