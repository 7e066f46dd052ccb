"""Questions with known answers over the real files of the corpora: `questions.jsonl`.

The first line holds the salt, each other line one answer and three questions that it answers: one
in its exact words, one as people ask, one paraphrase that shares few words with it. What the files
say is not in there: an answer is the file's name and the salted hashes of all windows of a few
words of the answering sentence, so it is found in whatever pieces the text is cut into. A piece is
relevant if it holds one of the windows.

A question is added by quoting the answer, five words at least that stand nowhere else:

    python -m benchmarks._questions FILE "the quoted words" "exact" "as asked" "paraphrase"

which appends a line, and refuses a paraphrase that shares more than two words with its answer.
Files that answer nothing are in the set as well: `distractors` of the first line.
"""

import hashlib
import re
import shutil
import sys
import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from kbd.core.search.engine import WorkspaceEngine
from kbd.core.search.tokenizer import index_terms, parse_query

__all__ = ["KINDS", "Answer", "Question", "QuestionSet", "load", "questions", "shared_stems"]

HERE = Path(__file__).with_name("questions.jsonl")
CORPORA = Path(__file__).parents[2] / "shared" / "corpora"
KINDS = ("exact", "natural", "paraphrase")
WINDOW_WORDS, WINDOW_CHARACTERS = 5, 10
MAX_SHARED = 2
AROUND = 80
"""So many words on each side are what a paraphrase is compared with, about a piece."""

_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")


class Heading(msgspec.Struct, frozen=True):
    """The first line.

    Args:
        salt: What goes before the words of a window when they are hashed.
        distractors: Files that answer nothing.
    """

    salt: str
    distractors: tuple[str, ...]


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """An answer and what it answers.

    Args:
        file: The file's path in the corpora.
        size: How many words a window has (characters, where no blanks stand).
        windows: The hashes of its windows.
        exact: A question in its terms, names and numbers.
        natural: A question as people ask it.
        paraphrase: One that shares no more than two words with it.
        later: Whether it was written after the form of the ranking was settled.
    """

    file: str
    size: int
    windows: tuple[str, ...]
    exact: str
    natural: str
    paraphrase: str
    later: bool = False

    @property
    def held_out(self) -> bool:
        """Whether no figure was chosen by it: half of the files, by the hash of their names."""
        return self.later or hashlib.sha256(self.file.encode()).digest()[0] % 2 == 1


class Question(msgspec.Struct, frozen=True):
    """A question with its answer."""

    kind: str
    text: str
    answer: Answer


class QuestionSet(msgspec.Struct, frozen=True):
    """All of them."""

    heading: Heading
    answers: tuple[Answer, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """The files to be searched, sorted."""
        return tuple(sorted({each.file for each in self.answers} | {*self.heading.distractors}))

    def relevant(self, answer: Answer, pieces: Sequence[str]) -> frozenset[int]:
        """Return which pieces of the answer's file hold it."""
        wanted = set(answer.windows)
        return frozenset(
            at
            for at, text in enumerate(pieces)
            if any(found in wanted for found in hashes(text, answer.size, self.heading.salt))
        )


def words(text: str) -> list[str]:
    """Return the words of a text as they are hashed."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def hashes(text: str, size: int, salt: str) -> Iterator[str]:
    """Yield the hashes of the windows of a text."""
    found = words(text)
    for at in range(len(found) - size + 1):
        window = "\x1f".join((salt, *found[at : at + size]))
        yield hashlib.blake2b(window.encode(), digest_size=5).hexdigest()


def load(path: Path = HERE) -> QuestionSet:
    """Return the questions."""
    first, *others = path.read_bytes().splitlines()
    return QuestionSet(
        msgspec.json.decode(first, type=Heading),
        tuple(msgspec.json.decode(line, type=Answer) for line in others),
    )


def questions(answers: Sequence[Answer]) -> Iterator[Question]:
    """Yield the questions of answers, a third of each kind."""
    for answer in answers:
        for kind, text in zip(
            KINDS, (answer.exact, answer.natural, answer.paraphrase), strict=True
        ):
            yield Question(kind, text, answer)


def shared_stems(question: str, pieces: Sequence[str]) -> int:
    """Return how many words of a question the pieces hold, those that only bind others aside."""
    held: set[str] = set()
    for piece in pieces:
        held.update(index_terms("", piece)[1].split())
    return sum(1 for word in parse_query(question).terms if not held.isdisjoint(word))


def made(quote: str, file: str, asked: Sequence[str], salt: str, *, later: bool = True) -> Answer:
    """Return an answer by a quotation."""
    found = words(quote)
    unspaced = sum(1 for word in found if re.match(f"[{_UNSPACED}]", word))
    size = WINDOW_CHARACTERS if unspaced > len(found) / 2 else WINDOW_WORDS
    exact, natural, paraphrase = asked
    windows = tuple(dict.fromkeys(hashes(quote, size, salt)))
    return Answer(file, size, windows, exact, natural, paraphrase, later)


def add(file: str, quote: str, asked: Sequence[str]) -> str:
    """Add an answer with its questions; return what is wrong with it, "" if nothing is."""
    known = load()
    answer = made(quote, file, asked, known.heading.salt)
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "documents"
        base.mkdir()
        shutil.copy(CORPORA / file, base)
        with WorkspaceEngine(base, Path(folder) / "index", embed=None) as engine:
            text = engine.get_doc_text(engine.list_docs()[0].doc_id) or ""
    found = words(text)
    near = [
        " ".join(found[max(at - AROUND, 0) : at + AROUND])
        for at, window in enumerate(hashes(text, answer.size, known.heading.salt))
        if window in answer.windows
    ]
    if not near:
        return f"{file} does not say that, or the quotation is too short"
    if (shared := shared_stems(answer.paraphrase, near)) > MAX_SHARED:
        return f"the paraphrase shares {shared} words with its answer"
    with HERE.open("ab") as target:
        target.write(msgspec.json.encode(answer) + b"\n")
    return ""


if __name__ == "__main__":
    _, named, quoted, *three = sys.argv
    sys.exit(add(named, quoted, three))
