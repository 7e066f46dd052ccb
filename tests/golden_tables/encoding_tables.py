"""Cases of encodings: the letters of names in every code page that offices still write."""

from golden_tables.cases import Case, Column, Expected, case, encoded, number, page, text, written
from golden_tables.styles import german

__all__ = ["CASES"]

NAMES = {
    "spanish": "Peña|Núñez|García|Muñoz|Ibáñez|Ordóñez",
    "french": "Lefèvre|Bénédicte|François|Noël|Forêt|Gérard",
    "german": "Müller|Jäger|Größe|Schön|Weiß|Köhler",
    "portuguese": "João|Conceição|Magalhães|Simões|Gonçalves|Araújo",
    "danish": "Sørensen|Østergaard|Åse|Kjær|Mads|Bjørn",
    "swedish": "Åström|Björk|Sjöberg|Östlund|Håkansson|Lindqvist",
    "icelandic": "Þórður|Guðrún|Björk|Sigurðsson|Ægir|Jóhanna",
    "italian": "Niccolò|Città|Perché|Lunedì|Virtù|Però",
    "polish": "Łukasz|Zażółć|Gęślą|Jaźń|Kościuszko|Wałęsa",
    "czech": "Dvořák|Šťastný|Žižka|Příliš|Kůň|Němec",
    "hungarian": "Kovács|Győrffy|Szűcs|Erdős|Bartók|Tűző",
    "romanian": "Ionescu|Țepeș|Ștefan|Brâncuși|Năstase|Pătrașcu",
    "turkish": "Yılmaz|Şahin|Çelik|Öztürk|Güneş|Doğan",
    "russian": "Иванов|Петров|Сидоров|Щербаков|Юдин|Ёлкин",
    "ukrainian": "Шевченко|Їжак|Ґалаґан|Євген|Гнатюк|Ільницький",
    "greek": "Παπαδόπουλος|Γεωργίου|Ωνάσης|Ξενάκης|Μαρία|Ψαράς",
    "hebrew": "כהן|לוי|מזרחי|פרץ|ביטון|דהן",
    "arabic": "محمد|فاطمة|أحمد|عائشة|يوسف|خالد",
    "japanese": "山田太郎|佐藤花子|鈴木一郎|高橋健|田中さくら|渡辺ケン",
    "chinese": "张伟|王芳|李娜|刘洋|陈静|杨帆",
    "traditional": "陳怡君|林志玲|張惠妹|黃國倫|劉德華|蔡英文",
    "korean": "김민준|이서연|박지후|최지우|정하은|강도윤",
    "vietnamese": "Nguyễn|Trần|Lê Thị|Phạm|Đặng|Bùi",
    "signs": "5 €|„Zitat“|Straße – West|don’t|…|™",
}
"""Six names of a language."""

AMOUNTS = "10.50 20.25 30.00 40.75 50.10 60.40"


def _columns(language: str) -> list[Column]:
    return [text("Name", NAMES[language]), number("Betrag", AMOUNTS, german, decimal=",")]


def _each() -> list[Case]:
    """Languages in their code pages."""
    pages = {
        "spanish": "cp1252 latin-1 cp850 utf-8 mac_roman",
        "french": "cp1252 latin-1 cp850 utf-8-bom",
        "german": "cp1252 latin-1 cp850 cp437 utf-8 utf-16-le-bom",
        "portuguese": "cp1252 latin-1 cp850",
        "danish": "cp1252 latin-1 cp850",
        "swedish": "cp1252 latin-1 cp850",
        "icelandic": "cp1252 latin-1",
        "italian": "cp1252 latin-1",
        "polish": "cp1250 iso8859-2 utf-8",
        "czech": "cp1250 iso8859-2 cp852",
        "hungarian": "cp1250 iso8859-2",
        "turkish": "cp1254 iso8859-9",
        "russian": "cp1251 koi8-r cp866 iso8859-5 utf-8",
        "ukrainian": "cp1251 utf-16-be-bom",
        "greek": "cp1253 iso8859-7",
        "hebrew": "cp1255",
        "arabic": "cp1256",
        "japanese": "cp932 euc-jp utf-8 utf-8-bom utf-16-le-bom",
        "chinese": "gb18030 gbk utf-8 utf-16-le-bom",
        "traditional": "big5",
        "korean": "cp949 utf-8",
        "romanian": "utf-8 utf-16-be-bom",
        "vietnamese": "utf-8 utf-8-bom",
        "signs": "cp1252 utf-8",
    }
    return [
        case(
            f"encodings/{language}_{encoding}",
            _columns(language),
            encoding=encoding,
            delimiter=";",
        )
        for language, encodings in pages.items()
        for encoding in encodings.split()
    ]


def _wide() -> list[Case]:
    """UTF-16 and UTF-32 with and without their mark, in both orders, also in other delimiters."""
    found = []
    for encoding in (
        "utf-16-le-bom", "utf-16-be-bom", "utf-16-le", "utf-16-be",
        "utf-32-le-bom", "utf-32-be-bom", "utf-32-le", "utf-32-be", "utf-8-bom",
    ):  # fmt: skip
        for language, delimiter in (("french", ";"), ("japanese", ",")):
            label = f"wide encodings/{language}_{encoding}"
            found.append(case(label, _columns(language), encoding=encoding, delimiter=delimiter))
    # What spreadsheets save as "Unicode text".
    tabs = case(
        "wide encodings/unicode_text.txt.tsv",
        _columns("french"),
        encoding="utf-16-le-bom",
        delimiter="\t",
        eol="\r\n",
    )
    mark = encoded(page(_columns("german"), delimiter=";"), "utf-8")
    twice = written(
        "wide encodings/mark_twice",
        b"\xef\xbb\xbf\xef\xbb\xbf" + mark,
        _columns("german"),
        encoding="utf-8",
        delimiter=";",
    )
    quoted = case(
        "wide encodings/mark_before_quote",
        _columns("german"),
        encoding="utf-8-bom",
        delimiter=";",
        quote_all=True,
    )
    return [*found, tabs, twice, quoted]


def _few() -> list[Case]:
    """One letter that is not ASCII in many rows: hardly anything to tell a code page by."""
    found = []
    for language, name, encoding in (
        ("spanish", "Peña", "cp1252"),
        ("french", "André", "cp1252"),
        ("german", "Müller", "cp1252"),
        ("german_sharp", "Weiß", "latin-1"),
        ("danish", "Sørensen", "cp1252"),
        ("polish", "Łukasz", "cp1250"),
        ("czech", "Dvořák", "cp1250"),
        ("hungarian", "Szűcs", "cp1250"),
        ("euro", "5 € bar", "cp1252"),
        ("dos", "Müller", "cp850"),
        ("degrees", "20 °C", "cp1252"),
        ("utf", "Müller", "utf-8"),
        ("utf_welsh", "Llŷr", "utf-8"),
        ("utf_yuan", "20元", "utf-8"),
        ("utf_won", "원", "utf-8"),
        ("utf_traditional", "總店", "utf-8"),
        ("utf_hindi", "राम", "utf-8"),
    ):
        plain = ["Smith", "Jones", "Miller", "Brown", "Davis", "Wilson", "Moore", "Taylor"]
        columns = [
            text("Name", [*plain, name]),
            number("Amount", "1 2 3 4 5 6 7 8 9"),
        ]
        found.append(case(f"few letters/{language}", columns, encoding=encoding))
    # The only letter stands far behind what a sample would hold.
    names = ["Smith", "Jones", "Miller"] * 2_000
    late = [text("Name", [*names, "Peña"]), number("Amount", " ".join(["1 2 3"] * 2_000) + " 4")]
    found.append(case("few letters/late_cp1252", late, encoding="cp1252"))
    found.append(case("few letters/late_utf8", late, encoding="utf-8"))
    return found


def _headers() -> list[Case]:
    """Letters in the names of columns alone."""
    found = []
    for name, encoding, delimiter in (
        ("german_cp1252", "cp1252", ";"),
        ("german_latin", "latin-1", ";"),
        ("german_utf16", "utf-16-le-bom", "\t"),
        ("german_utf8", "utf-8-bom", ";"),
    ):
        columns = [
            text("Straße", "A-Weg|B-Weg|C-Weg"),
            number("Größe", "1.50 2.00 3.25", german, decimal=","),
        ]
        found.append(case(f"letters above/{name}", columns, encoding=encoding, delimiter=delimiter))
    kanji = [text("名前", "A|B|C"), number("金額", "100 200 300")]
    found.append(case("letters above/japanese", kanji, encoding="cp932"))
    for encoding in ("cp1252", "utf-8"):
        heat = [text("Room", "A|B"), number("°C", "20.5 21.5")]
        found.append(case(f"letters above/degrees_{encoding}", heat, encoding=encoding))
    hanzi = [text("姓名", "A|B|C"), number("金额", "100 200 300")]
    found.append(case("letters above/chinese", hanzi, encoding="gb18030"))
    return found


def _damaged() -> list[Case]:
    """Files that are not of one piece: said, or every letter is right."""
    amounts = number("Betrag", "1.50 2.25 3.00", german, decimal=",")
    head = b"Name;Betrag\n"
    mixed = head + "Müller;1,50\nJäger;2,25\n".encode() + "Köhler;3,00\n".encode("cp1252")
    found = [
        written(
            "damaged/utf8_and_cp1252",
            mixed,
            [text("Name", "Müller|Jäger|Köhler"), amounts],
            encoding="utf-8",
            delimiter=";",
        )
    ]
    # UTF-8 that was taken for cp1252 and saved again: the letters are what the file says.
    twice = "Name;Betrag\nMÃ¼ller;1,50\nJÃ¤ger;2,25\nKÃ¶hler;3,00\n"
    spoiled = [text("Name", "MÃ¼ller|JÃ¤ger|KÃ¶hler"), amounts]
    healed = Expected((text("Name", "Müller|Jäger|Köhler"), amounts))
    found.append(written("damaged/twice_encoded", twice, spoiled, delimiter=";", also=[healed]))
    replaced = "Name;Betrag\nM\ufffdller;1,50\nJ\ufffdger;2,25\nK\ufffdhler;3,00\n"
    lost = [text("Name", "M\ufffdller|J\ufffdger|K\ufffdhler"), amounts]
    found.append(written("damaged/replaced", replaced, lost, delimiter=";"))
    composed = "Name;Betrag\nMu\u0308ller;1,50\nJa\u0308ger;2,25\nKo\u0308hler;3,00\n"
    marks = [text("Name", "Mu\u0308ller|Ja\u0308ger|Ko\u0308hler"), amounts]
    joined = Expected((text("Name", "Müller|Jäger|Köhler"), amounts))
    found.append(written("damaged/composed", composed, marks, delimiter=";", also=[joined]))
    cut = encoded("Name;Betrag\nMüller;1,50\nJäger;2,25\nKöhler;3,00\n", "utf-8") + b"\xc3"
    found.append(
        written(
            "damaged/cut_letter",
            cut,
            [
                text("Name", "Müller|Jäger|Köhler|Ã"),
                number("Betrag", "1.50 2.25 3.00 ~", german, decimal=","),
            ],
            encoding="utf-8",
            delimiter=";",
        )
    )
    emoji = [text("Name", "😀 Rosa|👩‍👩‍👧 Familie|🇩🇪 Land"), amounts]
    found.append(case("damaged/emoji", emoji, delimiter=";"))
    return found


CASES = (*_each(), *_wide(), *_few(), *_headers(), *_damaged())
