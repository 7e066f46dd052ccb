"""Figures of tables that can be read in two ways: none, by whatever statement, until it is said."""

import pytest

from backends import on_trio
from kbd.errors import ValidationFailed
from kbd.testing.tools import Workbench
from kbd_tables.duck import closing_connection
from kbd_tables.statements import checked_statement, works_out_figures
from tools.tables.conftest import Ask

pytestmark = [pytest.mark.anyio, on_trio]

OPEN = "Filiale;Umsatz;Menge\nNord;1.234;3\nOst;2.500;4\nNord;10.000;5\n"
"""A column that can be read in two ways, which stays text, and one that is plain."""


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("sql", "waits"),
    [
        ("SELECT Filiale, Umsatz FROM data", False),
        ("SELECT Filiale, sum(Menge::DOUBLE) FROM data GROUP BY 1 ORDER BY Filiale", False),
        ("SELECT max(length(CAST(Umsatz AS VARCHAR))) FROM data", False),
        ("SELECT *, row_number() OVER () AS r FROM data ORDER BY r", False),
        ("SELECT Filiale FROM data WHERE Umsatz = '1.234' OR Umsatz IN ('2.500', '3')", False),
        ("SELECT Filiale, Umsatz FROM data WHERE Umsatz IS NOT NULL ORDER BY 1", False),
        ("SELECT Umsatz, count(*) AS n FROM data GROUP BY 1 HAVING count(*) > 0", False),
        ("SELECT Filiale, Umsatz FROM data WHERE Menge BETWEEN 3 AND 4", False),
        ("SELECT Filiale FROM data WHERE Umsatz = 10", True),
        ("SELECT Filiale FROM data WHERE 10 <> Umsatz", True),
        ("SELECT Filiale FROM data WHERE Umsatz IN (10, 2)", True),
        ("SELECT Filiale FROM data WHERE Umsatz IN (SELECT 10)", True),
        ("SELECT Filiale FROM data WHERE Umsatz > '2'", True),
        ("SELECT Filiale FROM data WHERE Umsatz BETWEEN '1' AND '3'", True),
        ("SELECT a.Filiale FROM data a JOIN data b ON a.Umsatz = b.Menge", True),
        ("SELECT Filiale FROM data JOIN (SELECT 10 AS Umsatz) USING (Umsatz)", True),
        ("SELECT * FROM data NATURAL JOIN (SELECT 10 AS Umsatz)", True),
        ("WITH t AS (SELECT Umsatz AS u FROM data) SELECT * FROM t WHERE u = 10", True),
        ("SELECT * FROM data ORDER BY 2", True),
        ("SELECT Umsatz, Filiale FROM data ORDER BY 1", True),
        ("SELECT * FROM data ORDER BY ALL", True),
        ("SELECT sum(Umsatz::DOUBLE) FROM data", True),
        ("SELECT sum(try_cast(replace(umsatz, '.', '') AS INT)) FROM data", True),
        ("SELECT sum(COLUMNS('U.*')::DOUBLE) FROM data", True),
        ("SELECT sum(x::DOUBLE) FROM (SELECT Umsatz AS x FROM data)", True),
        ("SELECT sum(x::DOUBLE) FROM data AS t(f, x, m)", True),
        ("SELECT * FROM data ORDER BY Umsatz DESC LIMIT 1", True),
        ("SELECT max(Umsatz) FROM data", True),
        ("SELECT strptime(Umsatz, '%d.%m') FROM data", True),
    ],
)
async def test_a_cast_answers_no_question(
    workbench: Workbench, ask: Ask, sql: str, *, waits: bool
) -> None:
    """What two readings make different figures of has none, by whatever way, until it is said."""
    workbench.add("t.csv", OPEN)
    if not waits:
        assert (await ask("query", path="t.csv", query=sql))["rows"]
        return
    with pytest.raises(ValidationFailed, match=r"is 1\.234 1234 or 1\.234\? Figures wait"):
        await ask("query", path="t.csv", query=sql)


async def test_a_cast_of_dates_answers_no_question(workbench: Workbench, ask: Ask) -> None:
    """Neither does a form that a statement says."""
    workbench.add("t.csv", "when,n\n1/2/2024,1\n3/4/2024,2\n")
    with pytest.raises(ValidationFailed, match="Figures wait for the answer: say it with read_as"):
        await ask("query", path="t.csv", query="SELECT strptime(\"when\", '%d/%m/%Y') FROM data")


@pytest.mark.parametrize(
    ("sql", "works_out"),
    [
        ("SELECT * FROM data WHERE upper(a) = 'X' ORDER BY length(a) LIMIT 3", False),
        ("SELECT a, row_number() OVER (ORDER BY a) FROM data", False),
        ("DESCRIBE data", False),
        ("SELECT SUM(b) FROM data", True),
        ("SELECT a, max(b) OVER () FROM data", True),
        ("SELECT a FROM data WHERE b > (SELECT avg(b) FROM data)", True),
        ("SELECT a FROM data GROUP BY a", True),
        ("SELECT list_sum(list(b)) FROM data", True),
        ("SELECT weighted_avg(b, b) FROM data", True),
        ("SELECT geomean(b) FROM data", True),
        ("SELECT WAvg(b, b) FROM data", True),
        ("SELECT list_sum(ARRAY(SELECT b FROM data))", True),
        ("SELECT list_sum([b, b]) FROM data", False),
        ("FROM data PIVOT (count(*) FOR a IN ('x'))", True),
        ("SUMMARIZE data", True),
        ("WITH x AS (SELECT count(*) AS n FROM data) FROM x", True),
    ],
)
async def test_statements_that_work_out_figures(sql: str, *, works_out: bool) -> None:
    """Whatever makes one value of several rows, told by the tree that the statement has anyway."""
    with closing_connection() as connection:
        statement = checked_statement(connection, sql)
    assert works_out_figures(statement) is works_out
