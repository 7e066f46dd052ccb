"""Chores that read PDF files, or print into them."""

import re
from itertools import takewhile
from typing import Any

from whole.office_chores.desk import Chore, Desk

__all__ = ["PAGE_CHORES"]

CONTRACT = "contract_agreement.pdf"
CONCERT = "concert_post.pdf"
LISTED = re.compile(r"[-•–]")


def _title_and_authors(desk: Desk) -> None:
    lines = desk.lines("paper.pdf")
    abstract = _at(lines, "abstract")
    desk.document("paper.docx", *lines[:abstract][:8])


def _at(lines: list[str], label: str) -> int:
    return next(n for n, line in enumerate(lines) if line.casefold().startswith(label))


def _abstract_of(desk: Desk) -> str:
    lines = desk.lines("paper.pdf")
    after = lines[_at(lines, "abstract") + 1 :]
    return " ".join(takewhile(lambda line: not re.match(r"1\.?\s+\w", line), after))


def _abstract(desk: Desk) -> None:
    desk.document("abstract.docx", "Abstract", _abstract_of(desk))


def _key_points(desk: Desk) -> None:
    sentences = re.split(r"(?<=\.)\s+", _abstract_of(desk))
    items = [{"op": "append_paragraph", "text": text, "list": "bullet"} for text in sentences[:5]]
    operations = [{"op": "append_paragraph", "text": "Key points", "style": "Heading 1"}, *items]
    desk.call("docx_operations", path="paper.docx", operations=operations, create_new=True)


def _effective_date(desk: Desk) -> None:
    desk.text("answer.txt", desk.after("Effective Date", CONTRACT))


def _terms(desk: Desk) -> None:
    lines = desk.lines(CONTRACT)
    start = _at(lines, "the parties agree")
    terms = [lines[start], *takewhile(LISTED.match, lines[start + 1 :])]
    parties = [line for line in lines if re.match(r"Party \d", line)]
    desk.document("summary.docx", "Agreement", *terms, *parties)


def _invitation(desk: Desk) -> None:
    artist, day = desk.after("Artist", CONCERT), desk.after("Date", CONCERT)
    desk.paper("concert_invitation.pdf", "Invitation", f"{artist} plays on {day}.")


def _contact(desk: Desk) -> None:
    labels = ("Artist", "Date", "Address")
    rows = [[label, desk.after(label, CONCERT)] for label in labels]
    desk.document("contact.docx", "Contact", rows=[["What", "Is"], *rows])


def _total_due(invoice: str) -> Any:
    def do(desk: Desk) -> None:
        desk.sheet("costs.xlsx", [["total due", float(desk.after("TOTAL DUE", invoice))]])

    return do


def _printed_homework(desk: Desk) -> None:
    path = "A12345homework.docx"
    desk.call("print_to_pdf", path=path, target_path="A12345homework.pdf")


def _text_of(name: str) -> Any:
    def do(desk: Desk) -> None:
        desk.document(f"{name}.docx", *desk.lines(f"{name}.pdf"))

    return do


def _variance(desk: Desk) -> None:
    (table,) = desk.tables("survey_report.pdf")
    desk.sheet("survey.xlsx", [[_number(cell) for cell in row] for row in table])
    query = 'SELECT round(var_samp("Age"), 2), round(stddev_samp("Age"), 2) FROM data'
    ((variance, deviation),) = desk.rows("survey.xlsx", query)
    desk.text("var.txt", f"variance {variance}, standard deviation {deviation}")


def _number(cell: str) -> Any:
    plain = cell.replace(",", "")
    return float(plain) if re.fullmatch(r"-?\d+(\.\d+)?", plain) else cell


def _financial_report(desk: Desk) -> None:
    tables = desk.tables("financial_report.pdf")
    rows = max(tables, key=len)
    desk.sheet("report.xlsx", [[_number(cell) for cell in row] for row in rows])
    title = next(line for line in desk.lines("financial_report.pdf") if "Announces" in line)
    desk.document("summary.docx", title, "A summary of the financial results.", rows=rows[:12])


def _printed_report(desk: Desk) -> None:
    desk.call("print_to_pdf", path="financial_report_2.xlsx", target_path="report.pdf")
    desk.copy("report.pdf", "financial/report.pdf")


def _invoices(desk: Desk) -> None:
    rows: list[list[Any]] = [["Invoice", "What", "Amount"]]
    for invoice in ("Invoice.pdf", "Invoice_2.pdf"):
        (items,) = [t for t in desk.tables(invoice) if t[0][0].casefold() == "quantity"]
        what = items[0].index("DESCRIPTION")
        rows += [
            [invoice, row[what], _number(row[-1])]
            for row in items[1:]
            if row[what] and re.search(r"\d", row[-1])
        ]
    desk.sheet("invoices.xlsx", rows)
    total = sum(row[-1] for row in rows[1:])
    desk.document("report.docx", "Invoices", f"Together {total:.2f}.", rows=rows)


def _fellowship(desk: Desk) -> bool:
    """Return whether an application has what the policy in the picture asks for."""
    path = "fellowship_application.pdf"
    policy = " ".join(desk.seen("school_policy.jpg")).casefold()
    lines = desk.lines(path)
    purpose, references = _at(lines, "statement of purpose"), _at(lines, "references")
    words = sum(len(line.split()) for line in lines[purpose + 1 : references])
    least = int(re.findall(r"(\d+) words", policy)[0])
    wanted = 2 if "two references" in policy else 1
    has_all = all(desk.after(label, path) for label in ("Name", "Email"))
    return has_all and words >= least and len(lines) - references - 1 >= wanted


def _judged(desk: Desk) -> None:
    desk.text("answer.txt", "yes" if _fellowship(desk) else "no")


def _judged_and_kept(desk: Desk) -> None:
    desk.document("result.docx", "yes" if _fellowship(desk) else "no")
    desk.copy("fellowship_application.pdf", "application/fellowship_application.pdf")


def _agenda(desk: Desk) -> None:
    desk.text("meetings/meeting_agenda.txt", "\n".join(desk.lines("meeting_agenda.pdf")))


def _post_as_picture(desk: Desk) -> None:
    desk.call("save_page_picture", path=CONCERT, target_path="concert_post.jpg")


def _welcome(desk: Desk) -> None:
    name = desk.after("Name", "google_form.pdf")
    desk.poster("welcome.jpg", "Welcome", f"We are glad that you come, {name}.")


def _notice(desk: Desk) -> None:
    desk.call("save_page_picture", path=CONCERT, target_path="notification.jpg")
    desk.document("concert_activaty.docx", *desk.lines(CONCERT))
    last = {"op": "add_image", "image": "notification.jpg", "alt_text": "The notice"}
    desk.call("docx_operations", path="concert_activaty.docx", operations=[last])


def _card(desk: Desk) -> None:
    text = " ".join(desk.lines("resume.pdf"))
    address = re.findall(r"[\w.]+@[\w.]+\w", text)[0]
    name = desk.lines("resume.pdf")[0]
    desk.poster("contact.jpg", name, address)
    desk.sheet("contact.xlsx", [("Name", "Mail"), (name, address)])


def _homework_as_pages(desk: Desk) -> None:
    _printed_homework(desk)
    desk.call("save_page_picture", path="A12345homework.pdf", target_path="A12345homework.jpg")


PAGE_CHORES = (
    Chore("1-18/0", (CONCERT,), _post_as_picture, {"concert_post.jpg": ()}),
    Chore("2-3/0", ("google_form.pdf",), _welcome, {"welcome.jpg": ()}),
    Chore("3-16/0", (CONCERT,), _notice,
          {"notification.jpg": (), "concert_activaty.docx": ["John Smith"]}),
    Chore("3-18/0", ("resume.pdf",), _card, {"contact.jpg": (), "contact.xlsx": ["@"]}),
    Chore("3-70/0", ("A12345homework.docx",), _homework_as_pages,
          {"A12345homework.pdf": ["CSE 221"], "A12345homework.jpg": ()}),
    Chore(
        "1-18/1", (CONCERT,), _invitation,
        {"concert_invitation.pdf": ["John Smith plays on July 15, 2024."]},
    ),
    Chore(
        "1-19/0", ("paper.pdf",), _title_and_authors,
        {"paper.docx": ["OS-Copilot", "Zhiyong Wu", "Chengcheng Han", "Zichen Ding"]},
    ),
    Chore(
        "1-19/1", ("paper.pdf",), _abstract, {"abstract.docx": ["Autonomous interaction"]},
        {"abstract.docx": ["Introduction"]},
    ),
    Chore("1-19/3", (CONTRACT,), _effective_date, {"answer.txt": ["2024-05-29"]}),
    Chore(
        "1-19/4", (CONTRACT,), _terms,
        {"summary.docx": ["The parties agree", "ABC Company", "XYZ Inc."]},
    ),
    Chore(
        "2-2/0-1", (CONCERT,), _contact,
        {"contact.docx": ["John Smith", "July 15, 2024", "123 Main Street"]},
    ),
    Chore("2-5/0", ("fellowship_application.pdf", "school_policy.jpg"), _judged,
          {"answer.txt": ["yes"]}, reads_pictures=True),
    Chore("2-7/0", ("paper.pdf",), _key_points, {"paper.docx": ["Key points"]}),
    Chore("2-23/0", ("Invoice.pdf",), _total_due("Invoice.pdf"), {},
          cells={"costs.xlsx": {"A1": "total due", "B1": 104.98}}),
    Chore("2-23/1", ("Invoice_2.pdf",), _total_due("Invoice_2.pdf"), {},
          cells={"costs.xlsx": {"B1": 1389.99}}),
    Chore("2-25/0", ("A12345homework.docx",), _printed_homework,
          {"A12345homework.docx": (), "A12345homework.pdf": ["CSE 221"]}),
    Chore("2-26/0-2", ("market_analysis.pdf",), _text_of("market_analysis"),
          {"market_analysis.docx": ["Marketing Plan", "How Large"]}),
    Chore("2-26/3", ("invitation_letter.pdf",), _text_of("invitation_letter"),
          {"invitation_letter.docx": ["IAEM", "November 15", "Colorado"]}),
    Chore("2-35/2", ("survey_report.pdf",), _variance,
          {"var.txt": ["variance 154.97", "deviation 12.45"]}),
    Chore("3-2/0", ("financial_report.pdf",), _financial_report,
          {"report.xlsx": (), "summary.docx": ["NVIDIA", "financial"]}),
    Chore("3-4/0", ("financial_report_2.xlsx",), _printed_report,
          {"report.pdf": ["Quadrex", "investment"], "financial/report.pdf": ["Quadrex"]}),
    Chore("3-5/0", ("Invoice.pdf", "Invoice_2.pdf"), _invoices,
          {"invoices.xlsx": ["cloud"], "report.docx": ["cloud", "pottery", "1399.99"]}),
    Chore("3-21/0", ("fellowship_application.pdf", "school_policy.jpg"), _judged_and_kept,
          {"result.docx": ["no"], "application/fellowship_application.pdf": ()},
          reads_pictures=True),
    Chore("3-72/0", ("meeting_agenda.pdf",), _agenda,
          {"meetings/meeting_agenda.txt": ["Financial Meeting", "Agenda"]}),
)  # fmt: skip
"""The chores, by the tasks that ask for them."""
