"""Chores that read pictures: scans, photos of lists, notices."""

import re
from typing import Any

from whole.office_chores.desk import Chore, Desk

__all__ = ["PICTURE_CHORES"]

COMBINED = "combined_notifications.jpg"
MEETING = "meeting_notification.jpg"
SCORES = "students_scores.jpg"
TRANSCRIPTS = "transcripts.png"


def _power_failure(desk: Desk) -> None:
    desk.paper("power_failure.pdf", *desk.seen("power_failure_notification.jpg"))


def _meeting(desk: Desk) -> list[str]:
    return [line for line in desk.seen(MEETING) if ":" in line or re.match(r"\d", line)]


def _summary_of_a_meeting(copied: str = "") -> Any:
    def do(desk: Desk) -> None:
        desk.paper("meeting.pdf", "Meeting", *_meeting(desk))
        if copied:
            desk.copy("meeting.pdf", copied)

    return do


def _both(desk: Desk) -> tuple[list[str], list[str]]:
    """Return the lines of the two notices of a picture: of the party, and of the meeting."""
    lines = desk.seen(COMBINED)
    at = next(n for n, line in enumerate(lines) if "meeting" in line.casefold())
    return lines[:at], lines[at:]


def _one_of_two(desk: Desk) -> None:
    party, meeting = _both(desk)
    wanted = [line for line in (*party, *meeting) if ":" in line]
    desk.paper("two_notification.pdf", "Notices", party[0], meeting[0], *wanted)


def _two_of_one(are_copied: bool) -> Any:
    def do(desk: Desk) -> None:
        for name, lines, folder in zip(
            ("party.pdf", "meeting.pdf"), _both(desk), ("activaties", "schedule"), strict=True
        ):
            desk.paper(name, *lines)
            if are_copied:
                desk.copy(name, f"{folder}/{name}")

    return do


def _homework(copied: str = "", printed: str = "") -> Any:
    def do(desk: Desk) -> None:
        desk.document("homework.docx", *desk.seen("homework.jpg"))
        if copied:
            desk.copy("homework.docx", copied)
        if printed:
            desk.call("print_to_pdf", path="homework.docx", target_path=printed)

    return do


def _scores(desk: Desk) -> list[tuple[str, int]]:
    found = re.findall(r"^(\w+)\s*:\s*(\d+)$", "\n".join(desk.seen(SCORES)), re.MULTILINE)
    return [(name, int(score)) for name, score in found]


def _first_scores(desk: Desk) -> None:
    desk.sheet("score.xlsx", [("Name", "Scores"), *_scores(desk)[:5]])


def _all_scores(desk: Desk) -> None:
    desk.sheet("scores/scores.xlsx", [("Name", "Scores"), *_scores(desk)])


def _grades(path: str, printed: str = "") -> Any:
    def do(desk: Desk) -> None:
        lines = desk.seen(TRANSCRIPTS)
        told = [line for line in lines if re.search(r"GPA|Student|Credits", line)]
        desk.document(path, "Report of the grades", *told)
        if printed:
            desk.call("print_to_pdf", path=path, target_path=printed)

    return do


def _transcript_as_sheet(desk: Desk) -> None:
    lines = desk.seen("transcripts.pdf")
    student = re.search(r"Student:\s*(\w+ \w+)", "\n".join(lines))
    gpa = re.findall(r"GPA:?[\s=]*([\d.]+)", "\n".join(lines).replace("..", "."))
    assert student is not None
    rows = [("Student", "GPA"), (student[1], float(gpa[0]))]
    desk.sheet("score.xlsx", rows)
    desk.document("score.docx", "Scores", rows=rows)


def _house_prices(desk: Desk) -> None:
    lines = "\n".join(desk.seen("house_price_index.jpg"))
    found = re.findall(r"^(\d{4})-01-01\s+([\d.]+)$", lines, re.MULTILINE)
    desk.sheet("index.xlsx", [("Year", "Index"), *((int(y), float(v)) for y, v in found)])
    query = 'SELECT regr_intercept("Index", "Year") + 2030 * regr_slope("Index", "Year") FROM data'
    ((index,),) = desk.rows("index.xlsx", query)
    desk.document("prediction.docx", "House prices", f"By a straight line {index:.1f} in 2030.")


def _cars(desk: Desk) -> None:
    lines = "\n".join(desk.seen("car_inventory.pdf"))
    found = re.findall(r"^\d+\s+([A-Z]{2}\w{8})\b.*?([\d.]{5,})", lines, re.MULTILINE)
    desk.sheet("car_inventory.xlsx", [("", "Car ID", "Miles"), *(
        (number, car, float(miles)) for number, (car, miles) in enumerate(found)
    )])  # fmt: skip
    desk.copy("car_inventory.xlsx", "cars/car_inventory.xlsx")


_CHORES = (
    Chore("2-1/0", ("power_failure_notification.jpg",), _power_failure,
          {"power_failure.pdf": ["Electric Failure", "Power", "issue"]}),
    Chore("2-1/1", (MEETING,), _summary_of_a_meeting(), {"meeting.pdf": ["Location", "Project"]}),
    Chore("2-1/2", (COMBINED,), _one_of_two, {"two_notification.pdf": ["Party", "Meeting"]}),
    Chore("2-1/3", (COMBINED,), _two_of_one(are_copied=False),
          {"party.pdf": ["party"], "meeting.pdf": ["meeting"]}, {"party.pdf": ["Conference"]}),
    Chore("2-6/0", ("homework.jpg",), _homework(), {"homework.docx": ["CSE 240A Homework"]}),
    Chore("2-10/0", (SCORES,), _first_scores,
          {"score.xlsx": ["Alice", "Bob", "Carol", "David", "Eva"]},
          {"score.xlsx": ["Frank", "Grace"]},
          {"score.xlsx": {"B2": 100, "B3": 222, "B4": 333, "B5": 250, "B6": 180}}),
    Chore("2-36/0", (TRANSCRIPTS,), _grades("report.docx"), {"report.docx": ["GPA"]}),
    Chore("3-13/0", (MEETING,), _summary_of_a_meeting("schedule/meeting.pdf"),
          {"meeting.pdf": ["Location", "Project"], "schedule/meeting.pdf": ["Location"]}),
    Chore("3-13/1", (COMBINED,), _two_of_one(are_copied=True),
          {"activaties/party.pdf": ["party"], "schedule/meeting.pdf": ["meeting"]}),
    Chore("3-22/0", ("homework.jpg",), _homework(copied="homework/homework.docx"),
          {"homework/homework.docx": ["CSE 240A Homework"]}),
    Chore("3-25/0", ("homework.jpg",), _homework(printed="new_homework.pdf"),
          {"homework.docx": ["CSE 240A"], "new_homework.pdf": ["CSE 240A Homework"]}),
    Chore("3-32/0", ("car_inventory.pdf",), _cars, {"cars/car_inventory.xlsx": ()}, {},
          {"car_inventory.xlsx": {"B2": "FD86MTG431", "B3": "FD86MTG572"}}),
    Chore("3-37/0", (SCORES,), _all_scores, {}, {},
          {"scores/scores.xlsx": {"A2": "Alice", "B4": 333, "A8": "Grace", "B8": 190}}),
    Chore("3-69/0", ("transcripts.pdf",), _transcript_as_sheet,
          {"score.xlsx": ["Teddy Roosevelt"], "score.docx": ["Teddy Roosevelt"]}),
    Chore("3-77/0", ("house_price_index.jpg",), _house_prices, {"prediction.docx": ["in 2030"]}),
    Chore("3-86/0", (TRANSCRIPTS,),
          _grades("transcripts_report.docx", printed="transcripts_report_pdf_version.pdf"),
          {"transcripts_report.docx": ["GPA"], "transcripts_report_pdf_version.pdf": ["GPA"]}),
)  # fmt: skip

PICTURE_CHORES = tuple(chore._replace(reads_pictures=True) for chore in _CHORES)
"""The chores, by the tasks that ask for them."""
