"""What Tab completes: commands, the names of files, models, folders."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from kbd.cli.chat.slash import COMMANDS

__all__ = ["Words"]

_FOLDERS = ("/publish", "/reload")


class Words(Completer):
    """Completes what is being typed.

    Args:
        file_names: Tells the names of the workbench's files.
        model_ids: Tells the models that can be used.
    """

    def __init__(
        self, file_names: Callable[[], Sequence[str]], model_ids: Callable[[], Sequence[str]]
    ) -> None:
        self._file_names, self._model_ids = file_names, model_ids
        self._folders = PathCompleter(only_directories=True, expanduser=True)

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Yield what the text before the cursor may become."""
        text = document.text_before_cursor
        command, space, argument = text.partition(" ")
        if text.startswith("/") and not space:
            for name, about in COMMANDS.items():
                if name.startswith(text):
                    yield Completion(name, -len(text), display_meta=about.what)
        elif command == "/model":
            yield from _matching(self._model_ids(), argument)
        elif command in _FOLDERS:
            below = Document(argument, len(argument))
            yield from self._folders.get_completions(below, complete_event)
        else:
            yield from self._files(text)

    def _files(self, text: str) -> Iterator[Completion]:
        """Yield the files whose names begin like the end of the text, the longest such end first.

        Names have spaces in them, so a name may begin some words back.
        """
        names = [name for name in self._file_names() if name.isprintable()]
        starts = [
            0,
            *(at + 1 for at, letter in enumerate(text) if letter.isspace() or letter in "\"'("),
        ]
        for start in starts:
            begun = text[start:]
            found = list(_matching(names, begun)) if begun else []
            if found:
                yield from found
                return


def _matching(words: Sequence[str], begun: str) -> Iterator[Completion]:
    for word in words:
        if word.casefold().startswith(begun.casefold()):
            yield Completion(word, -len(begun))
