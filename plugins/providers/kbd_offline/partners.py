"""Partners: rows of a table without one in another, and columns that are written beside. Pure."""

from collections.abc import Sequence

from kbd.jobs.records import FilterStep, GroupStep, JoinStep
from kbd_offline.evident_keys import key_pairs, things
from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.mentions import PART, SAME, ColumnMention
from kbd_offline.names import fold, stem, tokens
from kbd_offline.pair_words import ADDING, NEGATIVE, OFTEN, SMALL, same_family, word_set
from kbd_offline.scan import RequestScan, SeveralError, UnclearError
from kbd_offline.together import Result, TablesTogether, stem_of

__all__ = ["added_columns", "beside_names", "evident_key", "joined_with", "without_partner"]


def evident_key(
    work: TablesTogether, left: KnownTable, right: KnownTable
) -> tuple[KnownColumn, KnownColumn] | None:
    """Return by which columns each row of a table finds one of another; None for none.

    Raises:
        SeveralError: Several columns may be the key.
    """
    pairs = key_pairs(left, right)
    if len(pairs) > 1:
        request = work.request.rstrip(" .!?")
        names = " or ".join(f'"{mine.name}"' for mine, _ in pairs)
        raise SeveralError(
            f"the key may be {names}", [f'{request} on "{mine.name}"' for mine, _ in pairs]
        )
    return pairs[0] if pairs else None


def without_partner(work: TablesTogether) -> Result | None:
    """Read "which customers never ordered", "Kunden ohne Bestellung"; None where it is none.

    Raises:
        SeveralError: Several columns may be the key.
        UnclearError: It says more than that.
    """
    negatives = [at for at in range(len(work.scan)) if work.scan.word(at) in NEGATIVE]
    if len(work.tables) != 2 or len(negatives) != 1:
        return None
    for left, right in (work.tables, work.tables[::-1]):
        into = key_pairs(right, left) or [(t, m) for m, t in key_pairs(left, right)]
        if len(into) != 1:
            continue
        ((theirs, mine),) = into
        used = _missing_words(work, left, right, mine, negatives[0])
        if used is None:
            continue
        before = {at for at in range(negatives[0]) if at not in used}
        work.used |= used
        step = JoinStep(
            work.label(right), {mine.name: theirs.name}, "missing", many=True,
            of=work.label(left), make="missing",
        )  # fmt: skip
        told = f"The rows of {left.label} whose {mine.name} is not in {right.label}"
        found = work.read_rest(
            left, (step,), told, f"{stem_of(left)}-not-in-{stem_of(right)}", nouns=things(left)
        )
        left_over = set(range(len(work.scan))) - work.used - before
        filters = any(isinstance(one, FilterStep | GroupStep) for one in found[0].steps)
        if left_over and filters:
            raise UnclearError(
                f"it says more of {right.label} than that a row is there:"
                " ask for one after the other"
            )
        return found
    return None


def _missing_words(
    work: TablesTogether, left: KnownTable, right: KnownTable, key: KnownColumn, negative: int
) -> set[int] | None:
    """Return the places of the words for what has no partner in what; None without them."""
    scan = work.scan
    own = {stem(word) for word in (*things(left), *tokens(key.name))}
    first = next(
        (
            at
            for at in range(len(scan))
            if stem(scan.word(at).removesuffix("'s")) in own or work.is_called(left, at)
        ),
        None,
    )
    if first is None:
        return None
    names = {stem(word) for word in things(left)}
    is_other = same_family(scan.word(first), things(right)) and not work.is_called(left, first)
    if is_other and stem(scan.word(first)) not in names:
        return None
    verbs = [
        at for at in range(len(scan)) if at != first and same_family(scan.word(at), things(right))
    ]
    if len(verbs) != 1 or not _is_denied(scan, first, verbs[0], negative):
        return None
    used = {first, negative, *verbs}
    used |= {at for at in range(len(scan)) if scan.word(at) in SMALL | OFTEN}
    used |= {at for at in range(len(scan)) if scan.kind(at) == "sign"}
    # Behind the word for the other table nothing may narrow that.
    last = max(used & {first, negative, *verbs})
    between = set(range(min(negative, verbs[0]), max(negative, verbs[0]) + 1)) - used
    return None if between or last < 0 else used


def _is_denied(scan: RequestScan, thing: int, verb: int, negative: int) -> bool:
    """Tell whether "never" is of the verb, and the verb of the thing, by their order."""
    if verb == negative:
        return True
    if scan.word(negative) in ("nothing", "nichts"):
        return thing < min(verb, negative)
    return negative < verb and (thing < negative or thing > verb)


def added_columns(work: TablesTogether) -> Result | None:
    """Read "add the name and city to each order", "Ort des Kunden dazuschreiben"; else None.

    Raises:
        SeveralError: Several columns may be the key.
    """
    scan = work.scan
    if len(work.tables) != 2 or not any(scan.word(at) in ADDING for at in range(len(scan))):
        return None
    for left, right in (work.tables, work.tables[::-1]):
        if not key_pairs(left, right):
            continue
        found = _added(work, left, right)
        if found is None:
            continue
        columns, used = found
        key = evident_key(work, left, right)
        if key is None:
            continue
        work.used |= used
        return joined_with(work, left, right, key, columns)
    return None


def _added(
    work: TablesTogether, left: KnownTable, right: KnownTable
) -> tuple[list[KnownColumn], set[int]] | None:
    """Return the columns that are added, and the places of the words that say so."""
    scan, theirs, mine = work.scan, work.against(right), work.against(left)
    columns: list[KnownColumn] = []
    has_verb = is_behind = False
    place = 0
    own = {fold(column.name) for column in left.columns}
    while place < len(scan):
        word = scan.word(place)
        mention = theirs.column(place)
        if word in ADDING and (mention is None or mention.level > PART):
            has_verb = True
        elif work.other(place) is right or _is_called(work, right, place, mention):
            pass
        elif work.other(place) is left or _is_called(work, left, place, mine.column(place)):
            is_behind = True
        elif mention is not None and mention.level <= PART and len(mention.columns) == 1:
            column = mention.columns[0]
            if fold(column.name) in own:
                return None
            columns.append(column)
            place = mention.end
            continue
        elif word not in _LINKS and not scan.at(place, "det", "and") and word != ",":
            break
        place += 1
    is_named = any(scan.kind(at) == "file" for at in range(place))
    if not columns or not has_verb or not (is_behind or is_named):
        return None
    return columns, set(range(place))


_LINKS = word_set(
    "to each every the zu jeder jedem jede zur zum bei from of aus der den dem des von in "
    "into their its for und with mit beside also column columns spalte spalten matching "
    "corresponding passende passenden address adresse addresses"
)


def _is_called(
    work: TablesTogether, table: KnownTable, place: int, mention: ColumnMention | None
) -> bool:
    """Tell whether a word means the rows of a table, and not a column that is called just so."""
    return work.is_called(table, place) and (mention is None or mention.level > SAME)


def joined_with(
    work: TablesTogether,
    left: KnownTable,
    right: KnownTable,
    key: tuple[KnownColumn, KnownColumn],
    added: Sequence[KnownColumn],
    *,
    beside: Sequence[KnownColumn] = (),
) -> Result:
    """Return the job of what is left of a request against a table with columns of another.

    Args:
        work: The request.
        left: The table.
        right: The other.
        key: The columns of both by which rows belong together.
        added: The columns; none for all.
        beside: Columns that go with each value of the key where rows are grouped by it.

    Raises:
        UnclearError: It has no reading, or sums up what is there once for each row of the table.
    """
    mine, theirs = key
    own = {fold(column.name) for column in left.columns}
    columns = [c for c in added or right.columns if c != theirs and fold(c.name) not in own]
    step = JoinStep(
        work.label(right), {mine.name: theirs.name}, "left", tuple(c.name for c in columns),
        of=work.label(left), make="joined",
    )  # fmt: skip
    known = KnownTable(
        left.path, left.sheet,
        (*left.columns, *(_many(column) for column in columns)), left.rows, left.questions,
        left.delimiter, left.encoding, left.date_order,
    )  # fmt: skip
    on = mine.name if mine.name == theirs.name else f"{mine.name} = {theirs.name}"
    told = f"{left.label} with {', '.join(c.name for c in columns)} of {right.label} by {on}"
    found = work.read_rest(
        known, (step,), told, f"{stem_of(left)}-with-{stem_of(right)}",
        nouns=things(left), owners=set(things(right)) - set(things(left)), beside=beside,
        key=mine.name,
    )  # fmt: skip
    _check_figures(found, columns, right)
    return found


def _many(column: KnownColumn) -> KnownColumn:
    """Return a column of the other table as it is joined: its values may be there many times."""
    return KnownColumn(
        column.name, column.type, column.role, 0, column.distinct, column.values,
        column.is_listed, column.minimum, column.maximum, column.decimal, column.why_text,
    )  # fmt: skip


def _check_figures(found: Result, columns: Sequence[KnownColumn], right: KnownTable) -> None:
    """Check that no figure is of what stands beside many rows: it would count them as often."""
    theirs = {column.name for column in columns}
    for step in found[0].steps:
        figures = step.figures if isinstance(step, GroupStep) else ()
        for figure in figures:
            if figure.column in theirs and figure.function != "distinct":
                raise UnclearError(
                    f'"{figure.column}" is of {right.label}, and would count once for each row'
                    " beside it"
                )


def beside_names(work: TablesTogether, right: KnownTable) -> tuple[list[KnownColumn], set[int]]:
    """Return the columns in "with their names" at the end of a request, and its places."""
    theirs: RequestScan = work.against(right)
    for place in range(len(work.scan)):
        if place in work.used or work.scan.word(place) not in _WITH:
            continue
        at = place + 1
        while work.scan.word(at) in _THEIR:
            at += 1
        mentions, end = theirs.column_list(at)
        names = [mention.columns[0] for mention in mentions]
        fits = all(len(one.columns) == 1 and one.level <= PART for one in mentions)
        if names and fits and (end == len(work.scan) or work.scan.is_sign(end, ".,;!?")):
            is_led = work.scan.is_sign(place - 1, ",") or work.scan.word(place - 1) in _LED
            start = place - 1 if is_led else place
            return names, set(range(start, end))
    return [], set()


_WITH = word_set("with mit including samt inklusive inkl und and")
_LED = word_set("together zusammen along")
_THEIR = word_set(
    "their its the der den dem die ihren ihrem ihrer deren dazu jeweiligem jeweiligen also"
)
