"""Steps that write or answer, in plain words."""

from typing import assert_never

from kbd.formats.records import SheetForm
from kbd.jobs.expression_words import listed, value_words
from kbd.jobs.records import (
    ConvertStep,
    FillStep,
    OutputStep,
    ReplaceStep,
    ReportStep,
    SplitStep,
    WriteStep,
)

__all__ = ["output_words"]

_TOTALS = {
    "sum": "the sum of {0}", "average": "the average {0}", "minimum": "the least {0}",
    "maximum": "the greatest {0}", "count": "the number of {0}",
}  # fmt: skip


def output_words(step: OutputStep) -> str:
    """Return a step that writes or answers in words.

    Raises:
        ValidationFailed: A value is no expression.
    """
    match step:
        case WriteStep():
            sheet = "" if step.sheet is None else f"sheet {step.sheet} of "
            verb = "write" if step.mode == "replace" else "add the rows below those in"
            return f"{verb} {sheet}{step.file}{_form_words(step.form)}"
        case SplitStep():
            return _split(step)
        case FillStep():
            return _fill(step)
        case ReplaceStep():
            where = listed(step.files)
            if step.file is not None:
                where = f"a copy of {where} called {step.file}"
            capitals = "" if step.match_case else ", in any capitals,"
            return f"replace “{step.search}”{capitals} with “{step.replacement}” in {where}"
        case ConvertStep():
            return f"write {step.table} as it stands into {step.file}"
        case ReportStep():
            text = f" after “{step.text}”" if step.text else ""
            return f"tell up to {step.rows} row{'s' if step.rows > 1 else ''}{text}"
        case _:
            assert_never(step)


def _split(step: SplitStep) -> str:
    what = "sheet" if step.into == "sheets" else "file"
    line = f"write a {what} for each {step.by}"
    if step.exact:
        line += ", capitals counting,"
    line += f" into {step.file}" if step.into == "sheets" else f", {step.file}"
    if step.into == "sheets" and step.sheet != "{value}":
        line += f", each called {step.sheet}"
    line += f", rows without one under {step.empty}"
    if not step.keep_column:
        line += f", without the column {step.by}"
    return line + _form_words(step.form)


def _form_words(form: SheetForm) -> str:
    parts = []
    if form.title:
        parts.append(f"the title “{form.title}”")
    if form.totals:
        totals = [_TOTALS[how].format(name) for name, how in form.totals.items()]
        parts.append(f"{listed(totals)} below, at “{form.totals_label}”")
    if form.formats:
        formats = [f"{name} as {code}" for name, code in form.formats.items()]
        parts.append(f"{listed(formats)}")
    if form.widths:
        widths = [f"{name} {width:g} wide" for name, width in form.widths.items()]
        parts.append(listed(widths))
    if form.plain:
        parts.append("plain headings")
    if form.chart is not None:
        chart = form.chart
        title = f" called “{chart.title}”" if chart.title else ""
        parts.append(f"a {chart.kind} chart{title} of {listed(chart.values)} by {chart.category}")
    return f" with {listed(parts)}" if parts else ""


def _fill(step: FillStep) -> str:
    line = f"fill {step.template} in as {step.file}"
    if step.each is not None:
        line += f", one for each row, called by {step.each}"
    parts = [f"{name} is {value_words(value)}" for name, value in step.values.items()]
    parts += [f"the rows of {name} are those of {table}" for name, table in step.rows.items()]
    parts += [f"the picture {name} is {picture}" for name, picture in step.pictures.items()]
    return f"{line}, where {listed(parts)}" if parts else line
