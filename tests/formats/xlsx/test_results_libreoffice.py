"""Results by function, with LibreOffice as the judge: the same, or none and a word on it."""

import subprocess
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from kbd.formats import Source
from kbd.testing.formats import calculate_open
from kbd_xlsx import XlsxFormat
from kbd_xlsx.operations import CellSetting, SetCells, SetRange

FORMAT = XlsxFormat()
ROWS = (
    ("Item", "Kind", "Count", "Price", "Day", "Note"),
    ("tea", "drink", 3, 4.5, 45_000, "green, loose"),
    ("milk", "drink", 10, 1.25, 45_010, " two  blanks "),
    ("bread", "food", 2, 3.0, 45_020, "Straße"),
    ("butter", "food", 7, 2.75, 45_300, "x-1"),
    ("eggs", "food", 12, 0.35, 45_400, None),
    ("jam", "food", -4, 5.99, 45_500, "12"),
    ("salt", "other", 0, 0.79, 45_600, "TRUE"),
    ("soap", "other", 5, 1.99, 45_700, "a_b"),
)
FORMULAS = """
SUM(C2:C9) SUM(C2:C9,D2:D9,1) SUM(C:C) AVERAGE(D2:D9) AVERAGEA(C2:C9) MIN(C2:C9) MAX(D2:D9)
COUNT(A1:F9) COUNTA(A1:F9) COUNTBLANK(F1:G9) MEDIAN(C2:C9) STDEV(C2:C9) STDEVP(C2:C9) VAR(C2:C9)
VARP(C2:C9) STDEV.S(D2:D9) STDEV.P(D2:D9) VAR.S(D2:D9) VAR.P(D2:D9) LARGE(C2:C9,2) SMALL(C2:C9,3)
RANK(C3,C2:C9) RANK.EQ(C3,C2:C9,1) RANK.AVG(C3,C2:C9) PERCENTILE(C2:C9,0.3) QUARTILE(C2:C9,1)
PERCENTILE.INC(C2:C9,0.9) PERCENTILE.EXC(C2:C9,0.5) QUARTILE.INC(C2:C9,3) PERCENTRANK(C2:C9,5)
GEOMEAN(D2:D9) HARMEAN(D2:D9) AVEDEV(C2:C9) DEVSQ(C2:C9) SUMSQ(C2:C9) PRODUCT(C2:C5) KURT(C2:C9)
SKEW(C2:C9) CORREL(C2:C9,D2:D9) PEARSON(C2:C9,D2:D9) COVAR(C2:C9,D2:D9) SLOPE(C2:C9,D2:D9)
INTERCEPT(C2:C9,D2:D9) RSQ(C2:C9,D2:D9) STEYX(C2:C9,D2:D9) FORECAST(3,C2:C9,D2:D9)
TRIMMEAN(C2:C9,0.3) SUMIF(B2:B9,"food",C2:C9) SUMIF(C2:C9,">3") SUMIF(A2:A9,"b*",C2:C9)
SUMIF(B2:B9,"FOOD",C2:C9) SUMIFS(C2:C9,B2:B9,"food",D2:D9,">1")
SUMIFS(C2:C9,E2:E9,">="&DATE(2024,1,1)) COUNTIF(B2:B9,"food") COUNTIF(C2:C9,"<>0")
COUNTIF(F2:F9,"") COUNTIF(A2:A9,"?am") COUNTIFS(B2:B9,"food",C2:C9,">0")
AVERAGEIF(B2:B9,"food",D2:D9) AVERAGEIFS(D2:D9,B2:B9,"drink") MAXIFS(D2:D9,B2:B9,"food")
MINIFS(D2:D9,B2:B9,"other") SUMPRODUCT(C2:C9,D2:D9) SUMPRODUCT((B2:B9="food")*C2:C9*D2:D9)
SUMPRODUCT(--(C2:C9>3)) VLOOKUP("milk",A2:D9,4,FALSE) VLOOKUP("MILK",A2:D9,3,0)
VLOOKUP("x",A2:D9,2,0) VLOOKUP(45100,E2:F9,1,TRUE) HLOOKUP("Price",A1:F9,3,FALSE) INDEX(A2:D9,3,2)
INDEX(C2:C9,4) MATCH("bread",A2:A9,0) MATCH(45100,E2:E9,1) MATCH("zzz",A2:A9,0)
INDEX(A2:A9,MATCH(7,C2:C9,0)) XLOOKUP("jam",A2:A9,D2:D9) XLOOKUP("none",A2:A9,D2:D9,"missing")
XMATCH("jam",A2:A9) CHOOSE(2,"a","b","c") OFFSET(A1,2,3) ROW() ROW(D7) COLUMN(D7) ROWS(A1:B7)
COLUMNS(A1:C2) ADDRESS(3,4) AREAS(A1:B2) IF(C2>2,"many","few") IF(C2>2,1) IF(C4>2,1)
IFS(C2>5,"a",C2>2,"b",TRUE,"c") IFERROR(1/0,"none") IFERROR(A2,"none")
IFNA(VLOOKUP("q",A2:B9,2,0),"na") SWITCH(B2,"food",1,"drink",2,3) AND(C2>1,D2>1) OR(C2>9,D2>9)
NOT(C2=3) XOR(TRUE,FALSE,TRUE) TRUE() FALSE() ISBLANK(F6) ISBLANK(G6) ISNUMBER(C2) ISTEXT(A2)
ISERROR(1/0) ISERR(NA()) ISNA(NA()) ISLOGICAL(TRUE) ISNONTEXT(C2) ISEVEN(C2) ISODD(C2) ISREF(A1)
N(TRUE) N("a") TYPE("a") TYPE(1) NA() ERROR.TYPE(1/0) LEN(A2) LEN(F3) LEFT(A5,3) RIGHT(A5,3)
MID(A5,2,3) UPPER(A2) LOWER("ABC") PROPER("the good life") TRIM(F3) CLEAN("a")
CONCATENATE(A2,"-",B2) CONCAT(A2:A4) TEXTJOIN(", ",TRUE,A2:A9) TEXTJOIN("-",FALSE,F2:F6)
FIND("t",A5) SEARCH("T",A5) SUBSTITUTE(A5,"t","T") SUBSTITUTE(A5,"t","T",2) REPLACE(A5,2,3,"xx")
REPT("ab",3) EXACT("a","A") CHAR(65) CODE("A") UNICHAR(8364) UNICODE("€") VALUE("12.5") VALUE("x")
NUMBERVALUE("1.234,5",",",".") TEXT(D2,"0.00") TEXT(1234567.891,"#,##0.00") TEXT(0.256,"0%")
TEXT(E2,"yyyy-mm-dd") TEXT(0.75,"hh:mm") FIXED(1234.567,1) FIXED(1234.567,1,TRUE) T(A2) T(1)
A2&" "&B2 "x"&C2 ""&D7 A2=B2 A2<B2 "a"="A" C2+D2 C2-D2 C2*D2 C2/D2 C2^2 -C2 -2^2 2^-1 50% C2*10%
1=1.0 "2"*3 ABS(C7) SIGN(C7) INT(-2.5) TRUNC(-2.57,1) ROUND(2.345,2) ROUND(-2.5,0) ROUND(1234,-2)
ROUNDUP(2.341,2) ROUNDDOWN(-2.349,2) MROUND(7,3) CEILING(7.2,2) FLOOR(7.2,2) CEILING.MATH(7.2,2)
FLOOR.MATH(-7.2,2) EVEN(3) ODD(2) MOD(10,3) MOD(-10,3) MOD(10,-3) QUOTIENT(10,3) GCD(12,18)
LCM(4,6) FACT(5) FACTDOUBLE(7) COMBIN(5,2) COMBINA(4,3) PERMUT(5,2) POWER(2,10) SQRT(2) SQRTPI(2)
EXP(1) LN(10) LOG(8,2) LOG10(1000) PI() SIN(1) COS(1) TAN(1) ASIN(0.5) ACOS(0.5) ATAN(1)
ATAN2(1,2) SINH(1) COSH(1) TANH(1) ASINH(1) ACOSH(2) ATANH(0.5) COT(1) SEC(1) CSC(1) DEGREES(1)
RADIANS(180) MULTINOMIAL(2,3,4) SERIESSUM(2,0,1,C2:C4) ROMAN(499) ARABIC("CDXCIX") BASE(255,16)
DECIMAL("FF",16) BIN2DEC("1010") DEC2BIN(10) DEC2HEX(255) HEX2DEC("FF") OCT2DEC("17") DEC2OCT(15)
BITAND(12,10) BITOR(12,10) BITXOR(12,10) BITLSHIFT(3,2) BITRSHIFT(12,2) DELTA(1,1) GESTEP(5,4)
ERF(0.5) ERFC(0.5) CONVERT(1,"mi","km") CONVERT(100,"C","F") COMPLEX(3,4) IMABS("3+4i")
IMSUM("1+2i","3+4i") DATE(2024,2,30) DATE(2024,14,1) YEAR(E2) MONTH(E2) DAY(E2) WEEKDAY(E2)
WEEKDAY(E2,2) WEEKNUM(E2) WEEKNUM(E2,21) ISOWEEKNUM(E2) EDATE(E2,1) EOMONTH(E2,0) DAYS(E5,E2)
DAYS360(E2,E9) DATEDIF(E2,E9,"m") DATEDIF(E2,E9,"y") DATEDIF(E2,E9,"d") YEARFRAC(E2,E9)
YEARFRAC(E2,E9,1) NETWORKDAYS(E2,E3) WORKDAY(E2,10) NETWORKDAYS.INTL(E2,E3,7)
WORKDAY.INTL(E2,5,11) DATEVALUE("2024-03-01") TIME(13,30,15) TIMEVALUE("13:30") HOUR(0.75)
MINUTE(0.5104) SECOND(0.51043) PMT(0.05/12,60,10000) PV(0.05,10,-100) FV(0.05,10,-100)
NPER(0.05,-100,1000) RATE(10,-100,800) IPMT(0.1,1,3,8000) PPMT(0.1,1,3,8000)
CUMIPMT(0.09/12,360,125000,13,24,0) CUMPRINC(0.09/12,360,125000,13,24,0) NPV(0.1,C2:C5) IRR(G2:G5)
MIRR(G2:G5,0.1,0.12) XNPV(0.09,G2:G5,E2:E5) XIRR(G2:G5,E2:E5) SLN(30000,7500,10)
SYD(30000,7500,10,1) DB(1000000,100000,6,1) DDB(2400,300,10,1) EFFECT(0.0525,4)
NOMINAL(0.053543,4) DOLLARDE(1.02,16) DOLLARFR(1.125,16) RRI(96,10000,11000)
PDURATION(0.025,2000,2200) NORM.DIST(42,40,1.5,TRUE) NORMSDIST(1.3) NORM.INV(0.9,40,1.5)
NORMSINV(0.9) BINOM.DIST(6,10,0.5,FALSE) POISSON.DIST(2,5,TRUE) EXPON.DIST(0.2,10,TRUE)
T.DIST(1.9,60,TRUE) T.INV(0.75,2) T.TEST(C2:C9,D2:D9,2,1) CHISQ.DIST(0.5,1,TRUE) CHISQ.INV(0.93,1)
F.DIST(15.2,6,4,TRUE) CONFIDENCE.NORM(0.05,2.5,50) STANDARDIZE(42,40,1.5) GAMMA(2.5) GAMMALN(4)
BETA.DIST(0.4,8,10,TRUE) WEIBULL.DIST(105,20,100,TRUE) LOGNORM.DIST(4,3.5,1.2,TRUE)
HYPGEOM.DIST(1,4,8,20,FALSE) FISHER(0.75) FISHERINV(0.97) PHI(0.75) GAUSS(2) SUBTOTAL(9,C2:C9)
SUBTOTAL(1,C2:C9) AGGREGATE(9,6,C2:C9) FORMULATEXT(A20) ENCODEURL("a b") HYPERLINK("#A1","x")
CELL("row",A1) INFO("system") SHEET() SHEETS() LET(x,C2,x*2) MODE(C2:C9) DSUM(A1:D9,"Count",B1:B2)
FREQUENCY(C2:C9,3) TRANSPOSE(C2) MDETERM(C2:D3) PROB(G2:G3,G4:G5) LOOKUP(45100,E2:E9)
DMAX(A1:D9,"Price",B1:B2) A99 SUM(A98:A99) A99&"" A99=0 A99="" C2:C2 (C2) +C2 C2=3 -(C2) 1E+3
0.1+0.2 1-0.9 0.1*3
""".replace("\n", " ")


def formulas() -> list[str]:
    """The formulas; blanks are part of some only within quotes."""
    found, quoted, text = [], False, ""
    for sign in FORMULAS:
        quoted ^= sign == '"'
        if sign == " " and not quoted and text.count("(") == text.count(")"):
            if text:
                found.append(f"={text}")
            text = ""
        else:
            text += sign
    return found


def made(folder: Path) -> tuple[Path, Path, list[str]]:
    """The book as an edit leaves it, without results, and the same with those of kbd."""
    told = formulas()
    bare, path = folder / "bare.xlsx", folder / "book.xlsx"
    flows = tuple((number,) for number in (-1000, 300, 420, 680))
    cells = tuple(CellSetting(f"J{row}", text) for row, text in enumerate(told, 1))
    operations = (SetRange("S", "A1", ROWS), SetRange("S", "G2", flows), SetCells("S", cells))
    applied = FORMAT.apply(None, operations, bare)
    path.write_bytes(bare.read_bytes())
    found = calculate_open(FORMAT, Source(path, "book.xlsx"), applied)
    assert found.count
    return bare, path, told


def column(path: Path) -> list[Any]:
    sheet = openpyxl.load_workbook(path, data_only=True)["S"]
    return [sheet.cell(row, 10).value for row in range(1, len(formulas()) + 1)]


@pytest.mark.full
@pytest.mark.libreoffice
@pytest.mark.timeout(300)
def test_results_are_those_of_libreoffice(tmp_path: Path) -> None:
    """Over three hundred uses of functions: most have a result, and it is the same in both."""
    bare, path, told = made(tmp_path)
    subprocess.run(
        ["soffice", f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}", "--headless",
         "--convert-to", "xlsx:Calc MS Excel 2007 XML", "--outdir", tmp_path / "out", bare],
        check=True, capture_output=True, timeout=240,
    )  # fmt: skip
    theirs, ours = column(tmp_path / "out" / "bare.xlsx"), column(path)
    wrong = [
        (formula, mine, other)
        for formula, mine, other in zip(told, ours, theirs, strict=True)
        # An older LibreOffice does not know functions of the last years.
        if mine is not None and other != "#NAME?" and not same(mine, other)
    ]
    assert wrong == []
    known = sum(mine is not None for mine in ours)
    assert known > 0.9 * len(told)


def same(one: Any, other: Any) -> bool:
    """Whether two results are the same; an empty text counts as nothing."""
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) <= 1e-9 * max(abs(one), abs(other), 1e-6)
    return (one or "") == (other or "") or str(one) == str(other)
