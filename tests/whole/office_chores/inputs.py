"""Files that lie on the desk when a chore begins, with the figures of the tasks' own files."""

import io
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from types import MappingProxyType
from typing import Any

import docx
import openpyxl
from PIL import Image, ImageDraw, ImageFont

from pdf_forge import one_page, shown, stream

__all__ = ["make_input"]

Row = Sequence[Any]


def _workbook(*rows: Row) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in rows:
        sheet.append(list(row))
    # Wide enough for all that stands in it: a page shows no more of a text than its column.
    sheet.column_dimensions["A"].width = sheet.column_dimensions["B"].width = 30
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


def _document(*paragraphs: str) -> bytes:
    made = io.BytesIO()
    document = docx.Document()
    for number, text in enumerate(paragraphs):
        document.add_paragraph(text, style="Normal" if number else "Heading 1")
    document.save(made)
    return made.getvalue()


def _page(*lines: str | Row) -> bytes:
    """Return a PDF file of one page; the cells of a row stand beside each other."""
    content = b""
    for number, line in enumerate(lines):
        cells = [line] if isinstance(line, str) else list(line)
        for column, cell in enumerate(cells):
            text = str(cell).replace("(", "\\(").replace(")", "\\)")
            if text:
                content += shown(text, f"{40 + 135 * column} {770 - 16 * number}")
    return one_page(stream(content))


def _picture(kind: str, *lines: str) -> bytes:
    """Return a picture of lines of text, of 150 dots an inch."""
    font = ImageFont.load_default(26)
    image = Image.new("RGB", (1100, 60 + 48 * len(lines)), "white")
    drawing = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        drawing.text((50, 30 + 48 * number), line, fill="black", font=font)
    made = io.BytesIO()
    image.save(made, kind, **({"quality": 90} if kind == "JPEG" else {}))
    return made.getvalue()


SCORES = (
    ("Name", "midterm1", "midterm2"), ("Liam", 74, 72), ("Ivy", 64, 90), ("Alice", 78, 75),
    ("Alice", 93, 79), ("Jack", 71, 73), ("Peter", 60, 66), ("Kate", 64, 95), ("Sam", 99, 70),
    ("Noah", 65, 66), ("David", 95, 87), ("Bob", 97, 72), ("Frank", 77, 82), ("Alice", 89, 82),
    ("Sam", 85, 74), ("Tina", 100, 67), ("Peter", 66, 89), ("Rachel", 100, 71), ("Frank", 67, 63),
    ("Emma", 60, 93), ("Carol", 97, 100),
)  # fmt: skip
FEW_SCORES = (("Name", "midterm1"), ("Rachel", 100), ("Frank", 67), ("Emma", 60), ("Carol", 97))
REVENUES = (
    ("Year", "Revenue ($)"), (2004, 4439044), (2005, 2212203), (2006, 1193225), (2007, 2793265),
    (2008, 2080460), (2009, 1791112), (2010, 3098049), (2011, 3975966), (2012, 3251777),
    (2013, 2918667), (2014, 4983791), (2015, 4611210), (2016, 3294631), (2017, 1463500),
    (2018, 3945846), (2019, 3907271), (2020, 3651262), (2021, 2005820), (2022, 2170828),
    (2023, 2832545),
)  # fmt: skip
ROSTER = (
    ("Student ID", "Last Name", "First Name", "Final", "Major"), ("S1000", "Pivozu", "Zoye", 1,
    "CS"), ("S1001", "Cixarim", "Sipaq", 19, "CS"), ("S1002", "Pegoqeju", "Gafo", 66, "Math"),
    ("S1003", "Xihozun", "Meki", 19, "Stats"), ("S1004", "Dipuj", "Fufowot", 100, "ECE"),
    ("S1005", "Yehamucu", "Tukemoy", 2, "CS"), ("S1006", "Vufuh", "Pom", 97, "ECE"),
    ("S1007", "Cani", "Jehecat", 100, "Math"), ("S1008", "Sude", "Mec", 81, "Math"),
)  # fmt: skip
COURSES = (
    "CS 101", "MATH 150", "PHYS 101", "CS 102", "MATH 151", "PHYS 102", "CS 103", "MATH 152",
    "PHYS 103", "CS 104", "MATH 250", "PHYS 104", "CS 105", "MATH 251", "PHYS 105",
)  # fmt: skip
CARS = (
    ("Car Trading Records",), ("Date", "Car Model", "Buyer", "Seller", "Price"),
    ("2024-03-18", "Toyota Camry", "Alice", "Bob", "$15,000"),
    ("2024-03-17", "Honda Civic", "Charlie", "David", "$12,500"),
    ("2024-04-18", "BMW X5", "Bob", "Dealer", "$52,000"),
    ("2024-04-16", "Porsche Cayenne", "Jimmy", "Dealer", "$120,000"),
)  # fmt: skip
SURVEY = (
    ("Participant", "Age", "Sleep Hours"), ("Participant 1", "52", "6.4"),
    ("Participant 2", "35", "6.7"), ("Participant 3", "34", "8.9"), ("Participant 4", "19", "6.8"),
    ("Participant 5", "48", "7.0"), ("Participant 6", "27", "8.0"),
)  # fmt: skip
PRICES = tuple(
    (f"{year}-01-01", f"{16.9 + (year - 1975) * 6.25:.2f}") for year in range(1975, 1990)
)
INVENTORY = ("1 FD86MTG431 43326.8 Black", "2 FD86MTG572 44974.8 White")
STUDENTS = (
    "Alice: 100", "Bob: 222", "Carol: 333", "David: 250", "Eva: 180", "Frank: 275", "Grace: 190",
)  # fmt: skip
PARTY = ("Personnel Department Party", "Date: June 25, 2024", "Location: Grand Ballroom")
MEETING = ("Finance Report Meeting", "Date: June 22, 2024", "Location: Conference Room B")
POLICY = (
    "School Policy for Fellowship Applications",
    "1. The name of the applicant must be given.",
    "2. A statement of purpose with a minimum of 60 words.",
)
PURPOSE = ("I apply since this place would let me learn much, work with others and give back.",) * 5
APPLICATION = (
    "Fellowship Application", "Name:", "Alice Johnson", "Email:", "alice@example.com",
    "Statement of Purpose:", *PURPOSE, "References:", "Dr. John Smith, Professor",
)  # fmt: skip
PAPER = (
    "OS-Copilot: Towards Generalist Computer Agents", "Zhiyong Wu, Chengcheng Han, Zichen Ding",
    "Abstract", "Autonomous interaction with computers is a long standing challenge.",
    "We describe agents that use many programs. They learn from what they did.",
    "1 Introduction", "Much has been said of this before.",
)  # fmt: skip
CONTRACT = (
    "Contract Agreement", "The parties agree to these terms:", "- Services are given as described.",
    "- Payment follows the schedule.", "Party 1: ABC Company", "Party 2: XYZ Inc.",
    "Effective Date: 2024-05-29",
)  # fmt: skip
CONCERT = (
    "Concert Announcement", "Artist: John Smith", "Date: July 15, 2024", "Time: 7:00 PM",
    "Address: 123 Main Street, Cityville",
)  # fmt: skip
INVOICE = (
    "INVOICE", ("QUANTITY", "DESCRIPTION", "UNIT PRICE", "TOTAL"),
    ("1 TB", "Cloud service", "99.99", "99.99"), "TOTAL DUE 104.98",
)  # fmt: skip
SECOND_INVOICE = (
    "INVOICE", ("QUANTITY", "DESCRIPTION", "UNIT PRICE", "TOTAL"),
    ("100", "Clay pottery", "13.00", "1300.00"), "TOTAL DUE 1389.99",
)  # fmt: skip
RESULTS = (
    "NVIDIA Announces Financial Results", ("Item", "Q1 2024", "Q1 2023", "Change"),
    ("Revenue", "7,192", "8,288", "(13)%"), ("Gross margin", "64.6", "65.5", "(1)%"),
    ("Net income", "2,043", "1,618", "26%"), ("Expenses", "2,508", "3,563", "(30)%"),
)  # fmt: skip
TRANSCRIPT = (
    "High School Transcript", "Student: Teddy Roosevelt", "Weighted GPA: 3.78", "Credits: 23.00",
)  # fmt: skip
BUDGET = (("Quadrex Hardware",), ("Initial investment", 190000), ("Costs", 130833.33))
HOMEWORK = ("CSE 240A Homework 2", "Pipelines and Memory", "Due June 1, 2021")
CLASSES = (
    ("Name", "Class"), ("Noah", 1), ("Carol", 3), ("Jack", 3), ("Mia", 2), ("Olivia", 1),
)  # fmt: skip

_INPUTS: Mapping[str, Callable[[], bytes]] = MappingProxyType(
    {
        "file1.docx": lambda: _document("One"),
        "file2.pdf": lambda: _page("Two"),
        "file3.xlsx": lambda: _workbook(("Three",)),
        "file4.jpg": lambda: _picture("JPEG", "Four"),
        "House_creak.docx": lambda: _document("The house", "It creaked in every wind."),
        "academic_integrity.docx": lambda: _document("Academic integrity for research", "Be fair."),
        "sample_syllabus.docx": lambda: _document("Syllabus", "What is read, and when."),
        "project_report.docx": lambda: _document("Report", "What was found."),
        "reference.txt": lambda: b"Martin Arjovsky, Amar Shah, and Yoshua Bengio. 2016.\n",
        "random_paragraph.txt": "In the city a small café stood still.\n".encode,
        "homework_withname.docx": lambda: _document("Homework 1", "Student ID: A12345678", "Why?"),
        "A12345homework.docx": lambda: _document("CSE 221: Homework 1", "Why is the sky blue?"),
        "2-18:score.xlsx": lambda: _workbook(*FEW_SCORES),
        "score.xlsx": lambda: _workbook(*SCORES),
        "class_member.xlsx": lambda: _workbook(*CLASSES),
        "shopping_list.xlsx": lambda: _workbook(
            ("Name", "amount"), ("apple", 2), ("cabbage", 2), ("onion", 2)
        ),
        "CS161_Class_Roster.xlsx": lambda: _workbook(*ROSTER),
        "Bill_course_lists.xlsx": lambda: _workbook(
            ("Course Term", "Year", "Course", "Course Grade"),
            *(("Winter", 2022, course, "A") for course in COURSES),
        ),
        "house_price_index.xlsx": lambda: _workbook(
            ("observation_date", "ATNHPIUS06037A"),
            *((date.fromisoformat(day), float(index)) for day, index in PRICES),
        ),
        "car_trading.xlsx": lambda: _workbook(*CARS),
        "company_revenues.xlsx": lambda: _workbook(*REVENUES),
        "survey_responses.xlsx": lambda: _workbook(
            ("Participant ID", "Age", "Satisfaction Score"), (1, 31, 3), (2, 36, 1), (3, 60, 8)
        ),
        "financial_report_2.xlsx": lambda: _workbook(*BUDGET),
        "paper.pdf": lambda: _page(*PAPER),
        "contract_agreement.pdf": lambda: _page(*CONTRACT),
        "concert_post.pdf": lambda: _page(*CONCERT),
        "fellowship_application.pdf": lambda: _page(*APPLICATION),
        "google_form.pdf": lambda: _page("Form", "Name: Mary Major", "Email: mary@example.com"),
        "resume.pdf": lambda: _page("Mary Major", "mary@example.com, Seattle"),
        "Invoice.pdf": lambda: _page(*INVOICE),
        "Invoice_2.pdf": lambda: _page(*SECOND_INVOICE),
        "market_analysis.pdf": lambda: _page("Market Analysis and Marketing Plan", "How Large?"),
        "invitation_letter.pdf": lambda: _page("Dear:", "the IAEM, November 15, in Colorado"),
        "survey_report.pdf": lambda: _page("Survey Report", *SURVEY),
        "financial_report.pdf": lambda: _page(*RESULTS),
        "meeting_agenda.pdf": lambda: _page("Financial Meeting", "Agenda", "11:00 Welcome"),
        "car_inventory.pdf": lambda: _picture("PDF", *INVENTORY),
        "transcripts.pdf": lambda: _picture("PDF", *TRANSCRIPT),
        "3-21:school_policy.jpg": lambda: _picture(
            "JPEG", *POLICY, "3. The applicant must provide two references."
        ),
        "school_policy.jpg": lambda: _picture("JPEG", *POLICY, "3. At least one reference."),
        "power_failure_notification.jpg": lambda: _picture(
            "JPEG", "Electric Failure", "Power outage. Our team works on the issue."
        ),
        "meeting_notification.jpg": lambda: _picture(
            "JPEG", "Meeting", "Location: Conference Room", "Agenda:", "1. Project update"
        ),
        "combined_notifications.jpg": lambda: _picture("JPEG", *PARTY, *MEETING),
        "homework.jpg": lambda: _picture("JPEG", *HOMEWORK),
        "students_scores.jpg": lambda: _picture("JPEG", "Names and Scores", *STUDENTS),
        "transcripts.png": lambda: _picture("PNG", *TRANSCRIPT),
        "house_price_index.jpg": lambda: _picture("JPEG", *(f"{d} {v}" for d, v in PRICES)),
    }
)
"""By name, with the group of tasks before it where the same name stands for another file."""


def make_input(group: str, name: str) -> bytes:
    """Make a file of a group of tasks."""
    return _INPUTS.get(f"{group}:{name}", _INPUTS[name])()
