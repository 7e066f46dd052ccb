"""Chores that leave Word documents, made of sheets, texts and other documents."""

import re
from typing import Any

from whole.office_chores.desk import Chore, Desk

__all__ = ["DOCUMENT_CHORES"]

SCORES = "score.xlsx"
ROSTER = "CS161_Class_Roster.xlsx"
REVENUES = "company_revenues.xlsx"


def _renamed(desk: Desk) -> None:
    desk.copy("file1.docx", "test_file1.docx")


def _named_alike(desk: Desk) -> None:
    desk.copy("file2.pdf", "file1.pdf")


def _put_into_a_folder(desk: Desk) -> None:
    for name in desk.names:
        desk.copy(name, f"new_dir/{name}")


def _sentence_added(desk: Desk) -> None:
    added = {"op": "append_paragraph", "text": "This is a test sentence for task 1-15-0."}
    desk.call("docx_operations", path="House_creak.docx", operations=[added])


def _document_added(desk: Desk) -> None:
    added = {"op": "append_document", "file": "academic_integrity.docx"}
    desk.call("docx_operations", path="sample_syllabus.docx", operations=[added])


def _reference_added(desk: Desk) -> None:
    added = [{"op": "append_paragraph", "text": line} for line in desk.lines("reference.txt")]
    desk.call("docx_operations", path="project_report.docx", operations=added)


def _text_as_document(desk: Desk) -> None:
    desk.document("random_paragraph.docx", *desk.lines("random_paragraph.txt"))


def _one_sentence(desk: Desk) -> None:
    desk.document("test.docx", "This is a test file for task 1-16-1.")


def _statement_of_the_best(desk: Desk) -> None:
    name, score = desk.rows(SCORES, "SELECT Name, midterm1 FROM data ORDER BY 2 DESC LIMIT 1")[0]
    desk.document(f"{name}.docx", "Statement", f"{name} has the highest score: {score}.")


def _homework(desk: Desk) -> None:
    names = [row[0] for row in desk.rows("class_member.xlsx", "SELECT DISTINCT Name FROM data")]
    desk.document("homework.docx", "Homework", "read book and write essay", f"For: {names}")


def _homework_of_a_class(desk: Desk) -> None:
    query = "SELECT DISTINCT Name FROM data WHERE Class = 1"
    names = ", ".join(row[0] for row in desk.rows("class_member.xlsx", query))
    desk.document("hw1.docx", "Homework", "read book and write essay", f"For: {names}")


def _items(path: str) -> Any:
    def do(desk: Desk) -> None:
        names = [row[0] for row in desk.rows("shopping_list.xlsx", "SELECT Name FROM data")]
        desk.document(path, "Shopping", *names)

    return do


def _summary_of_scores(desk: Desk) -> tuple[str, list[list[Any]]]:
    scores = [name for name in desk.columns(SCORES) if name != "Name"]
    terms = ", ".join(f'round(avg("{s}"), 2), min("{s}"), max("{s}")' for s in scores)
    (found,) = desk.rows(SCORES, f"SELECT count(*), {terms} FROM data")
    rows = [[s, *found[1 + 3 * n : 4 + 3 * n]] for n, s in enumerate(scores)]
    return f"{found[0]} students.", [["Exam", "Average", "Lowest", "Highest"], *rows]


def _report_of_scores(path: str, printed: str = "", copied: str = "") -> Any:
    def do(desk: Desk) -> None:
        count, rows = _summary_of_scores(desk)
        desk.document(path, "Report of the scores", count, rows=rows)
        if printed:
            desk.call("print_to_pdf", path=path, target_path=printed)
        if copied:
            desk.copy(path, copied)

    return do


def _students(path: str, where: str = "true") -> Any:
    def do(desk: Desk) -> None:
        rows = desk.rows(
            ROSTER,
            f'SELECT "Student ID", "Last Name", "First Name" FROM data WHERE {where}',
        )
        operations = [
            {"op": "append_paragraph", "text": f"{number}, {first} {last}"}
            for number, last, first in rows
        ]
        desk.call("docx_operations", path=path, operations=operations, create_new=True)

    return do


def _courses(desk: Desk) -> None:
    lines = [row[0] for row in desk.rows("Bill_course_lists.xlsx", "SELECT Course FROM data")]
    operations = [{"op": "append_paragraph", "text": line} for line in lines]
    desk.call("docx_operations", path="classes_taken.docx", operations=operations, create_new=True)


def _prediction(path: str) -> Any:
    def do(desk: Desk) -> None:
        index = desk.columns("house_price_index.xlsx")[1]
        slope, at, year, last = desk.rows(
            "house_price_index.xlsx",
            f'SELECT regr_slope("{index}", year(observation_date)), '
            f'regr_intercept("{index}", year(observation_date)), max(year(observation_date)), '
            f'arg_max("{index}", observation_date) FROM data',
        )[0]
        desk.document(
            path,
            "House prices",
            f"The index was {last} in {year}.",
            f"By a straight line through all years it is {at + slope * 2030:.1f} in 2030.",
        )

    return do


def _prices_as_post(desk: Desk) -> None:
    _prediction("house_price.docx")(desk)
    desk.call("save_page_picture", path="house_price.docx", target_path="housing.jpg")


def _reward_of_the_best(desk: Desk) -> None:
    query = (
        "SELECT string_agg(Name, ' and '), max(midterm1) FROM data "
        "WHERE midterm1 = (SELECT max(midterm1) FROM data)"
    )
    ((names, score),) = desk.rows(SCORES, query)
    desk.document("reward.docx", "Reward", f"{names}: {score}, the best score.")
    desk.call("save_page_picture", path="reward.docx", target_path="reward.jpg")


def _named_by_number(desk: Desk) -> None:
    found = re.search(r"Student ID:\s*(\w+)", "\n".join(desk.lines("homework_withname.docx")))
    assert found is not None
    desk.copy("homework_withname.docx", f"{found[1]}.docx")


def _revenues(desk: Desk, query: str, path: str) -> list[list[Any]]:
    header = desk.columns(REVENUES)
    rows = desk.rows(REVENUES, query.format(*(f'"{name}"' for name in header)))
    desk.sheet(path, [header, *rows])
    return [header, *rows]


def _without_poor_years(desk: Desk) -> None:
    kept = _revenues(desk, "SELECT * FROM data WHERE {1} >= 2000000", "new.xlsx")
    desk.document("report.docx", "Years with revenues of 2,000,000 and more", rows=kept)


def _good_years(desk: Desk) -> None:
    kept = _revenues(desk, "SELECT * FROM data WHERE {1} > 4000000", "good.xlsx")
    desk.paper("report.pdf", "Years with revenues above 4,000,000", rows=kept)


def _best_two(desk: Desk) -> None:
    kept = _revenues(desk, "SELECT * FROM data ORDER BY {1} DESC LIMIT 2", "top2.xlsx")
    desk.document("reports.docx", "The two best revenues", rows=kept)


def _improvement(query: str) -> Any:
    def do(desk: Desk) -> None:
        year, revenue = (f'"{name}"' for name in desk.columns(REVENUES))
        ((more,),) = desk.rows(REVENUES, query.format(year=year, revenue=revenue))
        desk.text("improvement.txt", more)
        desk.document("reports.docx", "Improvement", f"Revenues changed by {more}.")

    return do


def _how_many(desk: Desk) -> None:
    ((first, second),) = desk.rows(
        SCORES, "SELECT count_if(midterm1 >= 90), count_if(midterm2 >= 90) FROM data"
    )
    desk.document("exams.docx", "Scores of 90 and more", f"midterm1: {first}, midterm2: {second}")
    desk.call("print_to_pdf", path="exams.docx", target_path="exams.pdf")


def _progress(desk: Desk) -> None:
    ((count,),) = desk.rows(SCORES, "SELECT count_if(midterm2 > midterm1) FROM data")
    desk.document("progress.docx", "Progress", f"{count} students are better than before.")


def _rewards(desk: Desk) -> None:
    query = "SELECT Name, midterm1 + midterm2 FROM data ORDER BY 2 DESC LIMIT 3"
    desk.paper("statement.pdf", "Rewards", rows=[["Name", "Score"], *desk.rows(SCORES, query)])


def _best_five(desk: Desk) -> None:
    rows = desk.rows(SCORES, "SELECT Name FROM data ORDER BY midterm1 DESC LIMIT 5")
    desk.document("list.docx", "The best five", *(row[0] for row in rows))


def _smallest_class(desk: Desk) -> None:
    rows = desk.rows(
        "class_member.xlsx",
        "WITH few AS (SELECT Class FROM data GROUP BY 1 ORDER BY count(*), 1 LIMIT 1) "
        "SELECT Name FROM data WHERE Class IN (FROM few)",
    )
    desk.paper("Class_member.pdf", "The smallest class", *(row[0] for row in rows))


def _cars(desk: Desk) -> None:
    price = "CAST(regexp_replace(CAST(\"Price\" AS VARCHAR), '[$,]', '', 'g') AS INTEGER)"
    rows = desk.rows(
        "car_trading.xlsx",
        f'SELECT "Car Model", {price} FROM data WHERE {price} <= 50000 ORDER BY 2',
    )
    desk.document("cars.docx", "Cars up to 50,000 $", rows=[["Car", "Price"], *rows])
    desk.call("print_to_pdf", path="cars.docx", target_path="suggesting.pdf")


def _survey(desk: Desk) -> None:
    numbers = desk.columns("survey_responses.xlsx")
    age, score = numbers[1], numbers[-1]
    ((found,),) = desk.rows(
        "survey_responses.xlsx",
        f'SELECT round(corr("{age}", "{score}"), 3) FROM data',
    )
    desk.document("report.docx", "The survey", f"{age} and {score} correlate by {found}.")


def _revenue_table(desk: Desk) -> None:
    rows = _revenues(desk, "SELECT * FROM data", "revenues.xlsx")
    desk.document("revenues.docx", "Revenues", f"{len(rows) - 1} years.", rows=rows)


def _students_in_a_folder(desk: Desk) -> None:
    _students("CS161/students.docx")(desk)


_FIRST_AND_LAST = "SELECT arg_max({revenue}, {year}) - arg_min({revenue}, {year}) FROM data"
_THIS_YEAR = (
    "SELECT sum({revenue}) FILTER ({year} = 2020) - sum({revenue}) FILTER ({year} = 2019) FROM data"
)
"""The task is of the year 2020."""
COURSES = (
    "CS 101", "MATH 150", "PHYS 101", "CS 102", "MATH 151", "PHYS 102", "CS 103", "MATH 152",
    "PHYS 103", "CS 104", "MATH 250", "PHYS 104", "CS 105", "MATH 251", "PHYS 105",
)  # fmt: skip
FOUR = ("file1.docx", "file2.pdf", "file3.xlsx", "file4.jpg")

DOCUMENT_CHORES = (
    Chore("1-3/0", FOUR, _renamed, {"test_file1.docx": ()}),
    Chore("1-3/1", FOUR, _named_alike, {"file1.pdf": ()}),
    Chore("1-3/4", FOUR, _put_into_a_folder, {f"new_dir/{name}": () for name in FOUR}),
    Chore(
        "1-15/0", ("House_creak.docx",), _sentence_added,
        {"House_creak.docx": ["This is a test sentence for task 1-15-0."]},
    ),
    Chore(
        "1-15/1", ("academic_integrity.docx", "sample_syllabus.docx"), _document_added,
        {"sample_syllabus.docx": ["academic integrity for research"]},
    ),
    Chore(
        "1-15/2", ("reference.txt", "project_report.docx"), _reference_added,
        {"project_report.docx": ["Martin Arjovsky", "Amar Shah", "Yoshua Bengio"]},
    ),
    Chore(
        "1-16/0", ("random_paragraph.txt",), _text_as_document,
        {"random_paragraph.docx": ["a small café stood"]},
    ),
    Chore(
        "1-16/1", (), _one_sentence, {"test.docx": ["This is a test file for task 1-16-1."]}
    ),
    Chore("2-18/0", (SCORES,), _statement_of_the_best, {"Rachel.docx": ["highest score: 100"]}),
    Chore(
        "2-18/1", ("class_member.xlsx",), _homework,
        {"homework.docx": ["read book and write essay"]},
    ),
    Chore(
        "2-18/2", ("shopping_list.xlsx",), _items("shopping_list.docx"),
        {"shopping_list.docx": ["apple", "cabbage", "onion"]},
    ),
    Chore("2-19/0", (SCORES,), _report_of_scores("teaching.docx"), {"teaching.docx": ["Highest"]}),
    Chore("2-20/0", (ROSTER,), _students("students.docx"), {"students.docx": ["S1006, Pom Vufuh"]}),
    Chore(
        "2-20/1", (ROSTER,), _students("cs_class_2024.docx", "Major = 'CS'"),
        {"cs_class_2024.docx": ["S1000, Zoye Pivozu", "S1001, Sipaq Cixarim", "S1005"]},
        {"cs_class_2024.docx": ["S1002", "S1003"]},
    ),
    Chore(
        "2-20/2", (ROSTER,), _students("makeup_exam_list.docx", "Final = 100"),
        {"makeup_exam_list.docx": ["S1004, Fufowot Dipuj", "S1007, Jehecat Cani"]},
        {"makeup_exam_list.docx": ["S1000", "S1005"]},
    ),
    Chore("2-21/0-5", ("Bill_course_lists.xlsx",), _courses, {"classes_taken.docx": COURSES}),
    Chore(
        "2-22/0", (SCORES,), _report_of_scores("midterm_report.docx"),
        {"midterm_report.docx": ["midterm1", "midterm2"]},
    ),
    Chore(
        "2-22/1", ("house_price_index.xlsx",), _prediction("house_price_index.docx"),
        {"house_price_index.docx": ["in 2030"]},
    ),
    Chore("2-30/0", ("homework_withname.docx",), _named_by_number, {"A12345678.docx": ()}),
    Chore(
        "3-8/0", (REVENUES,), _without_poor_years, {"new.xlsx": (), "report.docx": ["revenues"]},
        cells={"new.xlsx": {"B4": 2793265}},
    ),
    Chore(
        "3-8/1", (REVENUES,), _good_years,
        {"good.xlsx": ["2004", "2014", "2015"],
         "report.pdf": ["revenues", "2004", "2014", "2015"]},
    ),
    Chore(
        "3-8/2", (REVENUES,), _best_two,
        {"top2.xlsx": ["2014", "2015"], "reports.docx": ["revenues"]},
    ),
    Chore(
        "3-8/3", (REVENUES,), _improvement(_FIRST_AND_LAST),
        {"improvement.txt": ["1606499"], "reports.docx": ["1606499"]},
    ),
    Chore(
        "3-8/4", (REVENUES,), _improvement(_THIS_YEAR),
        {"improvement.txt": ["-256009"], "reports.docx": ["-256009"]},
    ),
    Chore(
        "3-8/5", ("score.xlsx",), _how_many,
        {"exams.pdf": ["midterm1: 7", "midterm2: 4"], "exams.docx": ["midterm1: 7", "midterm2: 4"]},
    ),
    Chore("3-8/7", (SCORES,), _progress, {"progress.docx": ["9 students"]}),
    Chore("3-47/0", (SCORES,), _rewards, {"statement.pdf": ["Carol"]}),
    Chore(
        "3-55/0", (SCORES,), _reward_of_the_best,
        {"reward.docx": ["Tina and Rachel"], "reward.jpg": ()},
    ),
    Chore(
        "3-64/0", ("house_price_index.xlsx",), _prices_as_post,
        {"house_price.docx": ["in 2030"], "housing.jpg": ()},
    ),
    Chore(
        "3-56/0", ("class_member.xlsx",), _homework_of_a_class,
        {"hw1.docx": ["read book and write essay"]},
    ),
    Chore(
        "3-58/0", ("shopping_list.xlsx",), _items("shopping.docx"),
        {"shopping.docx": ["apple", "onion"]},
    ),
    Chore(
        "3-59/0", (SCORES,), _report_of_scores("teaching.docx", printed="teaching.pdf"),
        {"teaching.docx": ["Highest"], "teaching.pdf": ["Highest"]},
    ),
    Chore("3-60/0", (ROSTER,), _students_in_a_folder, {"CS161/students.docx": ["Pivozu", "Zoye"]}),
    Chore(
        "3-62/0", (SCORES,), _report_of_scores("report.docx", printed="report.pdf"),
        {"report.docx": ["midterm1", "midterm2"], "report.pdf": ["midterm1", "midterm2"]},
    ),
    Chore(
        "3-63/0", (SCORES,), _report_of_scores("report/report.docx"),
        {"report/report.docx": ["midterm1"]},
    ),
    Chore(
        "3-67/0", ("car_trading.xlsx",), _cars,
        {"cars.docx": ["Toyota Camry", "15000"], "suggesting.pdf": ["Toyota Camry", "15000"]},
        {"cars.docx": ["52000"], "suggesting.pdf": ["52000"]},
    ),
    Chore("3-82/0", (SCORES,), _best_five,
        {"list.docx": ["Rachel", "Tina", "Sam", "Bob", "Carol"]},
        {"list.docx": ["David", "Alice", "Liam"]},
    ),
    Chore(
        "3-83/0", ("class_member.xlsx",), _smallest_class, {"Class_member.pdf": ["Mia"]},
        {"Class_member.pdf": ["Noah", "Carol", "Jack"]},
    ),
    Chore("3-84/0", ("survey_responses.xlsx",), _survey, {"report.docx": ["correlate by"]}),
    Chore(
        "3-99/0", (REVENUES,), _revenue_table, {"revenues.xlsx": (), "revenues.docx": ["revenues"]}
    ),
)  # fmt: skip
"""The chores, by the tasks that ask for them."""
