"""Line editor of a conversation, on prompt_toolkit: editing, keys, history, completion.

Tab completes commands and the names of files, models and folders.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import Output, create_output
from prompt_toolkit.styles import Style

from kbd.cli.chat.session import ChatSession
from kbd.cli.chat.slash_commands import COMMANDS, handle_line, model_ids
from kbd.cli.exits import OK, Stop
from kbd.cli.link import resolve_home
from kbd.cli.terminal import counted, line, note

__all__ = ["HISTORY_NAME", "InputCompleter", "Prompt", "history_at", "run_prompt"]

_FOLDERS = ("/publish", "/reload")


class InputCompleter(Completer):
    """Completer of commands, file names, models and folders.

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
                    yield Completion(name, -len(text), display_meta=about.help)
        elif command == "/model":
            yield from _completions(self._model_ids(), argument)
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
            found = list(_completions(names, begun)) if begun else []
            if found:
                yield from found
                return


def _completions(words: Sequence[str], begun: str) -> Iterator[Completion]:
    for word in words:
        if word.casefold().startswith(begun.casefold()):
            yield Completion(word, -len(begun))


HISTORY_NAME = "chat_history"

LABEL_COLUMNS = 24

_STYLE = Style.from_dict(
    {"label": "bold", "bottom-toolbar": "noreverse", "bottom-toolbar.text": ""}
)


class Prompt:
    """Asks a person for the next line.

    Args:
        session: The conversation.
        history: What was typed before.
        keyboard: Where keys come from; the terminal if None.
        screen: Where it is drawn; the terminal if None.
    """

    def __init__(
        self,
        session: ChatSession,
        history: History,
        keyboard: Input | None = None,
        screen: Output | None = None,
    ) -> None:
        self._session = session
        self._names: list[str] = []
        self._models: list[str] = []
        self._prompt: PromptSession[str] = PromptSession(
            history=history,
            completer=InputCompleter(lambda: self._names, self._model_ids),
            # Names of files would pop up at every second word.
            complete_while_typing=Condition(
                lambda: get_app().current_buffer.document.text_before_cursor.startswith("/")
            ),
            key_bindings=_key_bindings(),
            # A message may have several lines; Enter sends by a binding of its own.
            multiline=True,
            prompt_continuation=_continuation,
            style=_STYLE,
            enable_suspend=True,
            input=keyboard,
            output=screen or _choose_output(),
        )

    def ask(self) -> str:
        """Return what was typed.

        Raises:
            EOFError: Ctrl-D in an empty line, or the terminal is gone.
        """
        # Each answer may make files; which models there are is asked only where one is completed.
        self._names, self._models = self._session.file_names(), []
        label = line(self._session.label, LABEL_COLUMNS)
        return self._prompt.prompt(
            [("class:label", f"{label}> ")], bottom_toolbar=render_status(self._session)
        )

    def _model_ids(self) -> list[str]:
        if not self._models:
            try:
                state = self._session.state()
                listed = model_ids(self._session.client)
            except Stop:
                return []
            # A server's own models are on no list, but the ones in use are known.
            in_use = (str(state["active_model_id"]), str(state["default_model_id"]))
            self._models = sorted({*listed, *in_use})
        return self._models


def render_status(session: ChatSession) -> str:
    """Return the status line of the conversation: model, files, draft."""
    try:
        state = session.state()
        files = len(session.files())
        changes = session.ask("ReviewGetChangeSet")["changes"] if state["has_draft"] else []
    except Stop:
        session.drop()
        return "kbd does not answer; the next line tries again"
    parts = [line(state["active_model_id"], 60), counted(files, "file")]
    if state["has_draft"]:
        parts.append(f"draft: {counted(len(changes), 'change')} (/review)")
    if session.is_verbose:
        parts.append("verbose")
    return " · ".join(parts)


def run_prompt(session: ChatSession, prompt: Prompt) -> int:
    """Read and handle lines until the person leaves; errors are printed as they happen."""
    while not session.is_over:
        try:
            text = prompt.ask()
        except EOFError:
            break
        handle_line(session, text)
    return OK


def history_at(home: str | None) -> History:
    """Return the input history of this home, in a file that only its owner may read."""
    path = Path(resolve_home(home)) / HISTORY_NAME
    try:
        # Through a link the lines could land in any file of the user's.
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            # Also a file that was there before, with whatever mode: what people type is private.
            os.fchmod(file, 0o600)
        finally:
            os.close(file)
    except OSError as error:
        note(f"What is typed is not kept: {path} cannot be written ({error.strerror}).")
        return InMemoryHistory()
    return FileHistory(str(path))


def _choose_output() -> Output | None:
    """Return where to draw if stdout is no terminal, because it is to have the answers alone.

    None leaves the choice to prompt_toolkit, which then spares terminals that cannot draw.
    """
    return None if sys.stdout.isatty() else create_output(stdout=sys.stderr)


def _key_bindings() -> KeyBindings:
    keys = KeyBindings()
    # While what was typed before is searched, the keys mean what they mean there.
    is_editing = has_focus(DEFAULT_BUFFER)

    @keys.add("enter", filter=is_editing)
    def _(event: KeyPressEvent) -> None:
        """Choose what is completed, begin a new line behind a backslash, or send."""
        buffer = event.current_buffer
        if buffer.complete_state and buffer.complete_state.current_completion:
            buffer.complete_state = None
        elif buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.newline(copy_margin=False)
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter", filter=is_editing)
    def _(event: KeyPressEvent) -> None:
        """Begin a new line."""
        event.current_buffer.newline(copy_margin=False)

    @keys.add("c-c", filter=is_editing)
    def _(event: KeyPressEvent) -> None:
        """Clear what is typed."""
        event.current_buffer.reset()

    return keys


def _continuation(width: int, _number: int, _is_soft_wrapped: int) -> StyleAndTextTuples:
    return [("", " " * width)]
