"""Cases of bank statements and reports, as banks and shops of several countries export them.

The layouts are those that these countries use; banks, people and accounts are invented.
"""

from golden_tables.cases import Case, Expected, day, moment, number, text, written
from golden_tables.samples import ABOVE

__all__ = ["CASES"]


def _german_camt() -> Case:
    """A German statement in the layout of camt: quoted, years of two digits."""
    camt = (
        '"Auftragskonto";"Buchungstag";"Valutadatum";"Verwendungszweck";"Betrag";"Währung"\n'
        '"DE02100500000024290661";"01.03.24";"01.03.24";"Miete März";"-950,00";"EUR"\n'
        '"DE02100500000024290661";"04.03.24";"04.03.24";"Gehalt; Februar";"2.815,37";"EUR"\n'
        '"DE02100500000024290661";"29.03.24";"02.04.24";"Bäckerei Müller";"-4,20";"EUR"\n'
    )
    return written(
        "statements/german_camt",
        camt,
        [
            text("Auftragskonto", "|".join(["DE02100500000024290661"] * 3)),
            day("Buchungstag", "2024-03-01 2024-03-04 2024-03-29", "%d.%m.%y", order="dmy"),
            day("Valutadatum", "2024-03-01 2024-03-04 2024-04-02", "%d.%m.%y", order="dmy"),
            text("Verwendungszweck", "Miete März|Gehalt; Februar|Bäckerei Müller"),
            number("Betrag", "-950.00 2815.37 -4.20", decimal=","),
            text("Währung", "EUR|EUR|EUR"),
        ],
        encoding="cp1252",
        delimiter=";",
    )


def _german_direct() -> Case:
    """A German direct bank: the account's facts above, a delimiter at each line's end."""
    direct = (
        '"Kontonummer:";"DE02100500000024290661 / Girokonto";\n\n'
        '"Von:";"01.03.2024";\n"Bis:";"31.03.2024";\n'
        '"Kontostand vom 31.03.2024:";"1.861,17 EUR";\n\n'
        '"Buchungstag";"Wertstellung";"Auftraggeber";"Betrag (EUR)";\n'
        '"28.03.2024";"28.03.2024";"Stadtwerke";"-1.088,12";\n'
        '"15.03.2024";"15.03.2024";"Arbeitgeber";"2.949,29";\n'
    )
    columns = [
        day("Buchungstag", "2024-03-28 2024-03-15", "%d.%m.%Y", order="dmy"),
        day("Wertstellung", "2024-03-28 2024-03-15", "%d.%m.%Y", order="dmy"),
        text("Auftraggeber", "Stadtwerke|Arbeitgeber"),
        number("Betrag (EUR)", "-1088.12 2949.29", decimal=","),
    ]
    wider = Expected((*columns, text(None, "~|~")), left_out=4, words=ABOVE)
    return written(
        "statements/german_direct",
        direct,
        columns,
        also=[wider],
        encoding="latin-1",
        delimiter=";",
        header_row=7,
        left_out=4,
        words=ABOVE,
    )


def _german_saving() -> Case:
    """A German savings account: facts above, two columns of one name."""
    balance = (
        "Umsatzanzeige;Datei erstellt am: 02.04.2024 09:15\n\n"
        "IBAN;DE02 5001 0517 0137 0750 30\nKontoname;Extra-Konto\nSaldo;5.120,44;EUR\n\n"
        "Buchung;Auftraggeber/Empfänger;Saldo;Währung;Betrag;Währung\n"
        "28.03.2024;Zinsen;5.120,44;EUR;20,44;EUR\n"
        "13.03.2024;Sparplan;5.100,00;EUR;-400,00;EUR\n"
        "01.03.2024;Überweisung;5.500,00;EUR;1.500,00;EUR\n"
    )
    return written(
        "statements/german_saving",
        balance,
        [
            day("Buchung", "2024-03-28 2024-03-13 2024-03-01", "%d.%m.%Y", order="dmy"),
            text("Auftraggeber/Empfänger", "Zinsen|Sparplan|Überweisung"),
            number("Saldo", "5120.44 5100.00 5500.00", decimal=","),
            text("Währung", "EUR|EUR|EUR"),
            number("Betrag", "20.44 -400.00 1500.00", decimal=","),
            text(None, "EUR|EUR|EUR"),
        ],
        encoding="cp1252",
        delimiter=";",
        header_row=7,
        left_out=4,
        words=ABOVE,
    )


def _german_debit_credit() -> Case:
    """German amounts without a sign, and S or H beside them."""
    volks = (
        "Buchungstag;Empfänger;Umsatz;S/H\n"
        "27.03.2024;Versicherung;1.204,50;S\n28.03.2024;Kunde;3.000,00;H\n"
        "29.03.2024;Markt;52,10;S\n"
    )
    return written(
        "statements/german_debit_credit",
        volks,
        [
            day("Buchungstag", "2024-03-27 2024-03-28 2024-03-29", "%d.%m.%Y", order="dmy"),
            text("Empfänger", "Versicherung|Kunde|Markt"),
            number("Umsatz", "1204.50 3000.00 52.10", decimal=","),
            text("S/H", "S|H|S"),
        ],
        delimiter=";",
    )


def _french() -> Case:
    """A French statement: debit and credit in two columns, thousands with a no-break space."""
    french = (
        "Numéro de compte : 0012345678\nSolde au 31/03/2024 : 2 451,07 EUR\n\n"
        "Date;Libellé;Débit euros;Crédit euros\n"
        "29/03/2024;PRÉLÈVEMENT EDF;-64,20;\n27/03/2024;VIREMENT SALAIRE;;2\u00a0310,55\n"
        "12/03/2024;CARTE BOULANGERIE;-3,80;\n"
    )
    return written(
        "statements/french",
        french,
        [
            day("Date", "2024-03-29 2024-03-27 2024-03-12", "%d/%m/%Y", order="dmy"),
            text("Libellé", "PRÉLÈVEMENT EDF|VIREMENT SALAIRE|CARTE BOULANGERIE"),
            number("Débit euros", "-64.20 ~ -3.80", decimal=","),
            number("Crédit euros", "~ 2310.55 ~", decimal=","),
        ],
        encoding="cp1252",
        delimiter=";",
        header_row=4,
        left_out=2,
        words=ABOVE,
    )


def _spanish() -> Case:
    """A Spanish statement with a title and the holder above."""
    spanish = (
        "Movimientos de la cuenta\nTitular: Muñoz\n\n"
        "F. Operación;Concepto;Importe;Saldo\n"
        "31/03/2024;NÓMINA;1.850,00;3.204,12\n18/03/2024;ALQUILER;-720,00;1.354,12\n"
        "03/03/2024;PANADERÍA;-2,50;2.074,12\n"
    )
    return written(
        "statements/spanish",
        spanish,
        [
            day("F. Operación", "2024-03-31 2024-03-18 2024-03-03", "%d/%m/%Y", order="dmy"),
            text("Concepto", "NÓMINA|ALQUILER|PANADERÍA"),
            number("Importe", "1850.00 -720.00 -2.50", decimal=","),
            number("Saldo", "3204.12 1354.12 2074.12", decimal=","),
        ],
        encoding="latin-1",
        delimiter=";",
        header_row=4,
        left_out=2,
        words=ABOVE,
    )


def _italian() -> Case:
    """An Italian statement with its totals in the last row."""
    italian = (
        "Data;Descrizione;Entrate;Uscite\n"
        "28/03/2024;Stipendio;1.640,00;\n15/03/2024;Affitto;;-580,00\n02/03/2024;Caffè;;-1,20\n"
        "Totale;;1.640,00;-581,20\n"
    )
    return written(
        "statements/italian",
        italian,
        [
            day("Data", "2024-03-28 2024-03-15 2024-03-02", "%d/%m/%Y", order="dmy"),
            text("Descrizione", "Stipendio|Affitto|Caffè"),
            number("Entrate", "1640.00 ~ ~", decimal=","),
            number("Uscite", "~ -580.00 -1.20", decimal=","),
        ],
        delimiter=";",
        left_out=1,
        words=("total", "sum"),
    )


def _brazilian() -> Case:
    """A Brazilian statement: signs of currency, facts above."""
    brazilian = (
        "Extrato Conta Corrente\nAgência;1234\nConta;56789-0\n\n"
        "Data;Histórico;Valor (R$);Saldo (R$)\n"
        "28/03/2024;SALÁRIO;R$ 4.500,00;R$ 5.210,35\n20/03/2024;ALUGUEL;-R$ 1.800,00;R$ 710,35\n"
    )
    return written(
        "statements/brazilian",
        brazilian,
        [
            day("Data", "2024-03-28 2024-03-20", "%d/%m/%Y", order="dmy"),
            text("Histórico", "SALÁRIO|ALUGUEL"),
            number("Valor (R$)", "4500.00 -1800.00", decimal=","),
            number("Saldo (R$)", "5210.35 710.35", decimal=","),
        ],
        encoding="latin-1",
        delimiter=";",
        header_row=5,
        left_out=3,
        words=ABOVE,
    )


def _dutch() -> Case:
    """A Dutch statement: days in eight figures, amounts without signs."""
    dutch = (
        '"Datum","Naam / Omschrijving","Af Bij","Bedrag (EUR)","Mutatiesoort"\n'
        '"20240328","Albert Winkel","Af","18,45","Betaalautomaat"\n'
        '"20240325","Werkgever BV","Bij","2410,00","Overschrijving"\n'
        '"20240301","Huur","Af","1105,00","Incasso"\n'
    )
    layout = [
        text("Naam / Omschrijving", "Albert Winkel|Werkgever BV|Huur"),
        text("Af Bij", "Af|Bij|Af"),
        number("Bedrag (EUR)", "18.45 2410.00 1105.00", decimal=","),
        text("Mutatiesoort", "Betaalautomaat|Overschrijving|Incasso"),
    ]
    whole = number("Datum", "20240328 20240325 20240301")
    dates = day("Datum", "2024-03-28 2024-03-25 2024-03-01", "%Y%m%d", order="ymd")
    also = [Expected((dates, *layout))]
    return written("statements/dutch", dutch, [whole, *layout], also=also)


def _swedish() -> Case:
    """A Swedish statement: blanks between thousands, slashes in days."""
    swedish = (
        "Bokföringsdag;Belopp;Namn;Saldo;Valuta\n"
        "2024/03/28;-1 249,00;Hyra Åkergatan;12 310,50;SEK\n"
        "2024/03/25;24 500,00;Lön;13 559,50;SEK\n"
    )
    return written(
        "statements/swedish",
        swedish,
        [
            day("Bokföringsdag", "2024-03-28 2024-03-25", "%Y/%m/%d", order="ymd"),
            number("Belopp", "-1249.00 24500.00", decimal=","),
            text("Namn", "Hyra Åkergatan|Lön"),
            number("Saldo", "12310.50 13559.50", decimal=","),
            text("Valuta", "SEK|SEK"),
        ],
        encoding="utf-8-bom",
        delimiter=";",
    )


def _danish() -> Case:
    """A Danish statement: quoted, days with hyphens."""
    danish = (
        'Dato;Tekst;Beløb;Saldo\n"28-03-2024";"Føtex";"-248,75";"10.312,20"\n'
        '"15-03-2024";"Løn";"21.500,00";"10.560,95"\n'
    )
    return written(
        "statements/danish",
        danish,
        [
            day("Dato", "2024-03-28 2024-03-15", "%d-%m-%Y", order="dmy"),
            text("Tekst", "Føtex|Løn"),
            number("Beløb", "-248.75 21500.00", decimal=","),
            number("Saldo", "10312.20 10560.95", decimal=","),
        ],
        encoding="cp1252",
        delimiter=";",
    )


def _polish() -> Case:
    """A Polish statement: names behind number signs, amounts with their currency."""
    polish = (
        "#Klient;\nJAN ŁUKASIK;\n#Za okres:;\n01.03.2024;31.03.2024;\n\n"
        "#Data operacji;#Opis operacji;#Kwota;#Saldo\n"
        "2024-03-29;ZAKUP ŻABKA;-23,98 PLN;4 120,02 PLN\n"
        "2024-03-10;WYNAGRODZENIE ŚWIĘTO;6 200,00 PLN;4 144,00 PLN\n"
    )
    return written(
        "statements/polish",
        polish,
        [
            day("#Data operacji", "2024-03-29 2024-03-10", "%Y-%m-%d", order="ymd"),
            text("#Opis operacji", "ZAKUP ŻABKA|WYNAGRODZENIE ŚWIĘTO"),
            number("#Kwota", "-23.98 6200.00", decimal=","),
            number("#Saldo", "4120.02 4144.00", decimal=","),
        ],
        encoding="cp1250",
        delimiter=";",
        header_row=6,
        left_out=4,
        words=ABOVE,
    )


def _swiss() -> Case:
    """A Swiss statement: apostrophes between thousands, facts above."""
    swiss = (
        "Kontonummer:;0230 00123456.40\nIBAN:;CH93 0076 2011 6238 5295 7\nSaldo:;8'412.35\n\n"
        "Datum;Beschreibung;Belastung;Gutschrift;Saldo\n"
        "28.03.2024;Zahlung Zürich Versicherung;-1'204.50;;8'412.35\n"
        "25.03.2024;Lohn;;6'850.00;9'616.85\n"
    )
    return written(
        "statements/swiss",
        swiss,
        [
            day("Datum", "2024-03-28 2024-03-25", "%d.%m.%Y", order="dmy"),
            text("Beschreibung", "Zahlung Zürich Versicherung|Lohn"),
            number("Belastung", "-1204.50 ~", decimal="."),
            number("Gutschrift", "~ 6850.00", decimal="."),
            number("Saldo", "8412.35 9616.85", decimal="."),
        ],
        encoding="utf-8-bom",
        delimiter=";",
        header_row=5,
        left_out=3,
        words=ABOVE,
    )


def _british() -> Case:
    """A British statement: a sort code behind an apostrophe."""
    british = (
        "Transaction Date,Transaction Type,Sort Code,Transaction Description,Debit Amount,"
        "Credit Amount,Balance\n"
        "28/03/2024,DEB,'20-45-77,CAFE £ MORE,4.50,,1203.11\n"
        "25/03/2024,FPI,'20-45-77,WAGES,,1850.00,1207.61\n"
    )
    return written(
        "statements/british",
        british,
        [
            day("Transaction Date", "2024-03-28 2024-03-25", "%d/%m/%Y", order="dmy"),
            text("Transaction Type", "DEB|FPI"),
            text("Sort Code", "'20-45-77|'20-45-77"),
            text("Transaction Description", "CAFE £ MORE|WAGES"),
            number("Debit Amount", "4.50 ~"),
            number("Credit Amount", "~ 1850.00"),
            number("Balance", "1203.11 1207.61"),
        ],
        encoding="cp1252",
    )


def _american() -> Case:
    """An American statement: a delimiter at the end of each row."""
    american = (
        "Details,Posting Date,Description,Amount,Type,Balance,Check or Slip #\n"
        'DEBIT,03/28/2024,"ACME, INC",-1250.00,ACH_DEBIT,4310.22,,\n'
        "CREDIT,03/15/2024,PAYROLL,3100.50,ACH_CREDIT,5560.22,,\n"
        "CHECK,03/02/2024,CHECK 1012,-45.00,CHECK_PAID,2459.72,1012,\n"
    )
    columns = [
        text("Details", "DEBIT|CREDIT|CHECK"),
        day("Posting Date", "2024-03-28 2024-03-15 2024-03-02", "%m/%d/%Y", order="mdy"),
        text("Description", "ACME, INC|PAYROLL|CHECK 1012"),
        number("Amount", "-1250.00 3100.50 -45.00"),
        text("Type", "ACH_DEBIT|ACH_CREDIT|CHECK_PAID"),
        number("Balance", "4310.22 5560.22 2459.72"),
        number("Check or Slip #", "~ ~ 1012"),
    ]
    return written("statements/american", american, columns,
                      also=[Expected((*columns, text(None, "~|~|~")))])  # fmt: skip


def _american_summary() -> Case:
    """An American statement with a table of sums above the table."""
    summary = (
        'Description,,Summary Amt.\nBeginning balance as of 03/01/2024,,"2,000.00"\n'
        'Total credits,,"3,100.50"\nTotal debits,,"-1,295.00"\n'
        'Ending balance as of 03/31/2024,,"3,805.50"\n\n'
        "Date,Description,Amount,Running Bal.\n"
        '03/01/2024,Beginning balance as of 03/01/2024,,"2,000.00"\n'
        '03/15/2024,PAYROLL,"3,100.50","5,100.50"\n'
        '03/28/2024,"ACME, INC","-1,250.00","3,850.50"\n'
        '03/30/2024,CHECK 1012,-45.00,"3,805.50"\n'
    )
    return written(
        "statements/american_summary",
        summary,
        [
            day("Date", "2024-03-01 2024-03-15 2024-03-28 2024-03-30", "%m/%d/%Y", order="mdy"),
            text("Description", "Beginning balance as of 03/01/2024|PAYROLL|ACME, INC|CHECK 1012"),
            number("Amount", "~ 3100.50 -1250.00 -45.00"),
            number("Running Bal.", "2000.00 5100.50 3850.50 3805.50"),
        ],
        header_row=7,
        left_out=5,
        words=(*ABOVE, "table"),
        totals="keep",
    )


def _wallet() -> Case:
    """A wallet's report in German: decimal commas in a file of commas."""
    wallet = (
        '"Date","Time","TimeZone","Name","Type","Currency","Gross","Fee","Net"\n'
        '"28.03.2024","18:22:05","CET","Anna Müller","Zahlung","EUR","1.049,00","-26,42","1.022,58"\n'
        '"16.03.2024","09:01:44","CET","Bert Diaz","Zahlung","EUR","19,90","-0,85","19,05"\n'
    )
    return written(
        "statements/wallet",
        wallet,
        [
            day("Date", "2024-03-28 2024-03-16", "%d.%m.%Y", order="dmy"),
            text("Time", "18:22:05|09:01:44"),
            text("TimeZone", "CET|CET"),
            text("Name", "Anna Müller|Bert Diaz"),
            text("Type", "Zahlung|Zahlung"),
            text("Currency", "EUR|EUR"),
            number("Gross", "1049.00 19.90", decimal=","),
            number("Fee", "-26.42 -0.85", decimal=","),
            number("Net", "1022.58 19.05", decimal=","),
        ],
        encoding="utf-8-bom",
    )


def _japanese() -> Case:
    """A Japanese statement in Shift-JIS, thousands with commas."""
    japanese = (
        '"日付","お取引内容","お引出し","お預入れ","残高"\n'
        '"2024/03/28","カード","12,500","","1,204,310"\n'
        '"2024/03/25","給料　振込","","312,000","1,216,810"\n'
    )
    return written(
        "statements/japanese",
        japanese,
        [
            day("日付", "2024-03-28 2024-03-25", "%Y/%m/%d", order="ymd"),
            text("お取引内容", "カード|給料　振込"),
            number("お引出し", "12500 ~", decimal="."),
            number("お預入れ", "~ 312000", decimal="."),
            number("残高", "1204310 1216810", decimal="."),
        ],
        encoding="cp932",
    )


def _chinese() -> Case:
    """A Chinese report in GB18030, with five lines above."""
    chinese = (
        "------------------------------------\n导出信息：\n姓名：张伟\n起始时间：[2024-03-01]\n"
        "------------------------电子客户回单------------------------\n"
        "交易时间,交易分类,交易对方,收/支,金额,备注\n"
        "2024-03-28 18:20:11,餐饮美食,面馆,支出,28.50,\n"
        "2024-03-15 09:00:00,工资,公司,收入,8600.00,三月\n"
    )
    return written(
        "statements/chinese",
        chinese,
        [
            moment("交易时间", "2024-03-28T18:20:11 2024-03-15T09:00:00", "%Y-%m-%d %H:%M:%S"),
            text("交易分类", "餐饮美食|工资"),
            text("交易对方", "面馆|公司"),
            text("收/支", "支出|收入"),
            number("金额", "28.50 8600.00"),
            text("备注", "~|三月"),
        ],
        encoding="gb18030",
        header_row=6,
        left_out=5,
        words=ABOVE,
    )


def _russian() -> Case:
    """A Russian statement with its total in the last row."""
    russian = (
        "Дата;Описание;Сумма;Валюта\n28.03.2024;Продукты;-1 250,50;RUB\n"
        "15.03.2024;Зарплата;85 000,00;RUB\nИтого;;83 749,50;\n"
    )
    return written(
        "statements/russian",
        russian,
        [
            day("Дата", "2024-03-28 2024-03-15", "%d.%m.%Y", order="dmy"),
            text("Описание", "Продукты|Зарплата"),
            number("Сумма", "-1250.50 85000.00", decimal=","),
            text("Валюта", "RUB|RUB"),
        ],
        encoding="cp1251",
        delimiter=";",
        left_out=1,
        words=("total", "sum"),
    )


def _indian() -> Case:
    """An Indian statement: groups of two figures, names of months."""
    indian = (
        "Account Statement,,,,\nName,R. SHARMA,,,\n,,,,\n"
        "Txn Date,Narration,Debit,Credit,Balance\n"
        '28-Mar-24,UPI/TEA,"1,250.00",,"3,41,275.50"\n15-Mar-24,SALARY,,"1,20,000.00","3,42,525.50"\n'
    )
    return written(
        "statements/indian",
        indian,
        [
            day("Txn Date", "2024-03-28 2024-03-15", "%d-%b-%y", may_be_text=True),
            text("Narration", "UPI/TEA|SALARY"),
            number("Debit", "1250.00 ~", decimal="."),
            number("Credit", "~ 120000.00", decimal="."),
            number("Balance", "341275.50 342525.50", decimal="."),
        ],
        header_row=4,
        left_out=2,
        words=ABOVE,
    )


CASES = (
    _german_camt(),
    _german_direct(),
    _german_saving(),
    _german_debit_credit(),
    _french(),
    _spanish(),
    _italian(),
    _brazilian(),
    _dutch(),
    _swedish(),
    _danish(),
    _polish(),
    _swiss(),
    _british(),
    _american(),
    _american_summary(),
    _wallet(),
    _japanese(),
    _chinese(),
    _russian(),
    _indian(),
)
