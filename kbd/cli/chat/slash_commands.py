"""Slash commands: parses a typed line as a command, which begins with a slash, or a message.

Here are the commands that change something; `views` has those that only show something.
"""

import difflib
import itertools
import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from kbd.cli.chat.answer import answer_message, resume_run
from kbd.cli.chat.folder import ImportHistory, import_folder, made_by_kbd, read_workbench_files
from kbd.cli.chat.session import READING, ChatSession, show_busy
from kbd.cli.chat.views import (
    show_cost,
    show_documents,
    show_files,
    show_history,
    show_review,
    show_search,
    show_tools,
)
from kbd.cli.conversation import is_message, read_conversation
from kbd.cli.exits import CANCELLED, CONFIRMATION_NEEDED, FAILED, OK, UNREACHABLE, USAGE, Stop
from kbd.cli.files import extract
from kbd.cli.link import call
from kbd.cli.publish import choose_files
from kbd.cli.publish import publish as publish_draft
from kbd.cli.review import changed_paths, render_changes
from kbd.cli.terminal import ask, counted, is_interactive, line, note, say
from kbd.client.blocking import Client

__all__ = [
    "COMMANDS",
    "NO_MODEL",
    "can_converse",
    "clear_conversation",
    "discard_draft",
    "handle_line",
    "model_ids",
    "publish_and_copy",
    "reload_documents",
    "resolve_model",
    "switch_model",
    "toggle_verbose",
    "undo_messages",
]


COMPATIBLE = "openai"
"""The provider that any server of chat completions is reached by (docs/how-to/models.md)."""

NO_MODEL = """\
No model is set up: fixed rules do requests about tables (split, total, filter, convert);
other questions are declined. /search WORDS needs no model. To set one up, leave, and:
  export OPENAI_API_KEY=…          (or OPENAI_BASE_URL=http://localhost:11434/v1)
  export KBD_MODEL=openai:NAME
  kbd stop"""


def can_converse(model_id: str) -> bool:
    """Return whether a model can converse: the offline provider works by fixed rules."""
    return model_id.partition(":")[0] != "offline"


def model_ids(client: Client) -> list[str]:
    """Return the ids of the models that can be used now."""
    models = call(client, "ModelsListSupported")["models"]
    return [str(each["model_id"]) for each in models if each["available"]]


def resolve_model(client: Client, named: str) -> str:
    """Resolve the name of a model to its id.

    Without a provider it is one that a provider lists under that name; else it is tried as a model
    of the provider that takes any name and is set up, the OpenAI-compatible one before others.

    Raises:
        Stop: No provider would take it, or it cannot be told which.
    """
    if ":" in named:
        return named
    form = f"models are named provider:model, as {COMPATIBLE}:{line(named, 60)}"
    found = call(client, "ModelsListSupported")
    listed = [
        str(each["model_id"])
        for each in found["models"]
        if each["available"] and str(each["model_id"]).partition(":")[2] == named
    ]
    if len(listed) == 1:
        return listed[0]
    if listed:
        raise Stop(f"several models are called so: {', '.join(listed)}; {form}", USAGE)
    ready = {
        str(each["provider_id"])
        for each in call(client, "ProvidersGetStatus")["providers"]
        if each["configured"] and each["enabled"]
    }
    takers = [str(each) for each in found["open_providers"] if each in ready]
    if COMPATIBLE in takers:
        return f"{COMPATIBLE}:{named}"
    if len(takers) == 1:
        return f"{takers[0]}:{named}"
    why = (
        f"several providers would take it ({', '.join(takers)})"
        if takers
        else "no provider that takes any name is set up (`kbd providers`)"
    )
    raise Stop(f"{line(named, 60)} names no provider, and {why}; {form}", USAGE)


def publish_and_copy(session: ChatSession, argument: str) -> int:
    """Make the draft's changes the workbench's files; copy results to a folder if one is named.

    Without a draft the folder gets all that kbd made in this workbench.

    Raises:
        Stop: Nobody agreed, there is nothing to publish, or the folder cannot be written.
        RequestRefused: A published file changed meanwhile.
    """
    changes = session.ask("ReviewGetChangeSet")["changes"]
    if changes:
        note(render_changes(changes))
        chosen = _choose_files(session)
        changes = [change for change in changes if not chosen or change["path"] in chosen]
        done = publish_draft(
            session.client, session.workbench_id, paths=chosen, yes=session.says_yes
        )
        for path in done["published"]:
            say(f"published {line(path)}")
    elif not argument:
        raise Stop("there is no draft: nothing waits to be published", FAILED)
    if argument:
        _copy_results(session, changed_paths(changes), argument)
    elif changed_paths(changes):
        note(
            "They are in the workbench now; the files you added stay as they are.\n"
            f"Copies of them: /publish FOLDER, or kbd wb extract {session.workbench_id}"
        )
    return OK


def _copy_results(session: ChatSession, paths: list[str], folder: str) -> None:
    if not paths:
        client, workbench_id = session.client, session.workbench_id
        paths = made_by_kbd(
            ImportHistory(client, workbench_id), read_workbench_files(client, workbench_id)
        )
    if not paths:
        raise Stop("there are no results yet: every file is as it was added", FAILED)
    for path in extract(session.client, session.workbench_id, os.path.expanduser(folder), paths):
        say(f"-> {path}")


def discard_draft(session: ChatSession, argument: str) -> int:
    """Discard the draft.

    Raises:
        Stop: Nobody agreed.
    """
    del argument
    if not session.state()["has_draft"]:
        say("There is no draft.")
        return OK
    _confirm(session, "Throw the draft away?")
    session.ask("DraftDiscard")
    say("The draft is thrown away.")
    return OK


def _choose_files(session: ChatSession) -> tuple[str, ...]:
    """Return the files of the draft that a person wants published; none for all, unasked."""
    if session.says_yes:
        return ()
    if not is_interactive():
        msg = "nobody can be asked here; --yes says yes: Publish these changes?"
        raise Stop(msg, CONFIRMATION_NEEDED)
    chosen = choose_files(session.client, session.workbench_id)
    if not chosen:
        raise Stop("nothing was done; the draft is kept", CONFIRMATION_NEEDED)
    return chosen


def _confirm(session: ChatSession, question: str) -> None:
    if session.says_yes:
        return
    if not is_interactive():
        raise Stop(f"nobody can be asked here; --yes says yes: {question}", CONFIRMATION_NEEDED)
    if not ask(question):
        raise Stop("nothing was done; the draft is kept", CONFIRMATION_NEEDED)


def undo_messages(session: ChatSession, argument: str) -> int:
    """Undo the last questions, with their answers and all that those did.

    Raises:
        Stop: There are not so many.
    """
    if argument and not (argument.isascii() and argument.isdigit() and int(argument)):
        raise Stop("how many questions back? /undo, /undo 2", USAGE)
    back = int(argument or 1)
    messages = [
        each for each in read_conversation(session.client, session.workbench_id) if is_message(each)
    ]
    asked = [at for at, each in enumerate(messages) if each["role"] == "user"]
    if back > len(asked):
        raise Stop(f"nothing is undone: {counted(len(asked), 'question')} so far", FAILED)
    first = asked[-back]
    if first == 0 and len(messages) == 1:
        raise Stop("there is nothing before the first question; /clear begins anew", FAILED)
    # Nothing stands before the first question, of which only the answer goes.
    target = messages[max(first - 1, 0)]
    done = session.ask("WorkshopUndoToMessage", message_id=target["message_id"], slow=True)
    text = line(str(target["text"]), 60)
    say(f"The conversation ends again in: {text}")
    if first == 0:
        note("The first question stays, unanswered: /clear begins without it.")
    if done["files_changed"]:
        say(f"Files as they were then: {', '.join(line(path) for path in done['files_changed'])}")
    say(f"Draft: {'as it was then, see /review' if done['has_draft'] else 'none'}")
    note(f"All of it back: kbd undo {session.workbench_id} {messages[-1]['message_id']}")
    return OK


def clear_conversation(session: ChatSession, argument: str) -> int:
    """Begin a new conversation with the same files.

    The log forgets nothing, so this goes on in a fork that has the files and the context items of
    this workbench and nothing of what was said; this one stays as it is.

    Raises:
        Stop: A draft is open.
        RequestRefused: A run is under way.
    """
    del argument
    entries = read_conversation(session.client, session.workbench_id)
    if not any(is_message(each) for each in entries):
        say("Nothing was said yet.")
        return OK
    state = session.state()
    if state["has_draft"]:
        raise Stop("a draft is open: /publish or /discard it first (/review shows it)", FAILED)
    before = session.workbench_id
    # A folder's workbench is found by its name: the newest of that name is the one.
    name = session.name if session.folder else _next_name(session)
    fork = call(
        session.client,
        "WorkbenchFork",
        {
            "source_workbench_id": before,
            "mode": "clone_files_and_context_no_chat",
            "name": name,
        },
        slow=True,
    )
    session.workbench_id, session.name = str(fork["workbench_id"]), name
    if session.index_dir:
        session.ask("WorkspaceReloadIndex", index_dir=session.index_dir, slow=True)
    say("A new conversation, with the same files.")
    note(f"The one before: kbd chat {before}. This one: kbd chat {session.workbench_id}")
    # Last: a model whose provider is disabled is refused, and the new conversation is there.
    session.ask("WorkshopSetActiveModel", model_id=state["active_model_id"])
    return OK


def _next_name(session: ChatSession) -> str:
    base, _, number = session.name.rpartition(" (")
    base = base if base and number[:-1].isdigit() and number.endswith(")") else session.name
    named = (f"{base} ({count})" for count in itertools.count(2))
    return next(
        name
        for name in named
        if not call(session.client, "WorkbenchList", {"named": name, "limit": 1})["workbenches"]
    )


def switch_model(session: ChatSession, argument: str) -> int:
    """Tell the model of the next run, or choose another.

    Raises:
        Stop: No provider would take it.
    """
    if argument:
        chosen = resolve_model(session.client, argument)
        session.ask("WorkshopSetActiveModel", model_id=chosen)
    active = str(session.state()["active_model_id"])
    say(f"The next answer is {line(active)}'s.")
    if not can_converse(active):
        note(NO_MODEL)
    others = [each for each in model_ids(session.client) if each != active]
    if others and not argument:
        note(f"Others: {', '.join(line(each, 60) for each in others)}")
    return OK


def reload_documents(session: ChatSession, argument: str) -> int:
    """Import the folder again and update the index, or use an index in another folder.

    Raises:
        RequestRefused: The folder holds something else.
    """
    if session.folder:
        import_folder(session, session.folder)
    index_dir = os.path.abspath(os.path.expanduser(argument)) if argument else session.index_dir
    params: dict[str, Any] = {"index_dir": index_dir} if index_dir else {}
    with show_busy(READING):
        found = session.ask("WorkspaceReloadIndex", slow=True, **params)
    # Only now: a folder that was refused is not asked for again.
    session.index_dir = index_dir
    by = f", {found['embedded']:,} of them by meaning ({line(found['embedder'])})"
    say(
        f"{counted(found['num_docs'], 'document')}, {counted(found['num_chunks'], 'piece')} of "
        f"text{by if found['embedder'] else ''}."
    )
    for warning in found.get("warnings") or ():
        note(f"  ! {line(warning)}")
    return OK


def toggle_verbose(session: ChatSession, argument: str) -> int:
    """Show tool calls in full from now on, or no more."""
    del argument
    session.is_verbose = not session.is_verbose
    say(f"Tool calls are shown {'in full' if session.is_verbose else 'in short'}.")
    return OK


class _Command(NamedTuple):
    arguments: str
    help: str
    run: Callable[[ChatSession, str], int]


def _quit_chat(session: ChatSession, argument: str) -> int:
    del argument
    session.is_over = True
    return OK


def _resume_run(session: ChatSession, argument: str) -> int:
    del argument
    return resume_run(session)


def _print_help(session: ChatSession, argument: str) -> int:
    del session, argument
    width = max(len(f"{name} {command.arguments}") for name, command in COMMANDS.items())
    for name, command in COMMANDS.items():
        say(f"  {f'{name} {command.arguments}':<{width}}  {command.help}")
    say(_KEYS)
    return OK


_KEYS = """
Anything else is a message. Alt-Enter, or a backslash at the end, begins a new line in it; // at its
beginning stands for one slash. Tab completes commands, file names and models; Ctrl-R searches what
was typed before. Ctrl-C cancels the run, or clears the line; Ctrl-D leaves."""


COMMANDS: Mapping[str, _Command] = MappingProxyType(
    {
        "/help": _Command("", "this", _print_help),
        "/files": _Command("", "the files", show_files),
        "/docs": _Command("", "the documents that can be searched, with their ids", show_documents),
        "/search": _Command("WORDS", "where something is said; needs no model", show_search),
        "/tools": _Command("[NAME]", "the tools that the model may call", show_tools),
        "/history": _Command("[N]", "what was said, or the last N messages", show_history),
        "/review": _Command("[FILE]", "what the draft would change", show_review),
        "/publish": _Command(
            "[FOLDER]", "take the draft over; copy the results to FOLDER", publish_and_copy
        ),
        "/discard": _Command("", "throw the draft away", discard_draft),
        "/undo": _Command(
            "[N]", "take the last question back, or N, with all that was done", undo_messages
        ),
        "/resume": _Command("", "go on with the run that stopped", _resume_run),
        "/clear": _Command(
            "", "a new conversation with the same files; the old one stays", clear_conversation
        ),
        "/reload": _Command(
            "[FOLDER]", "files and index anew, or the index in FOLDER", reload_documents
        ),
        "/model": _Command("[ID]", "the model of the next answer", switch_model),
        "/cost": _Command("", "tokens and money", show_cost),
        "/verbose": _Command("", "tool calls in full, or in short again", toggle_verbose),
        "/quit": _Command("", "leave; everything is kept", _quit_chat),
    }
)


def handle_line(session: ChatSession, text: str) -> int:
    """Run a typed line and return its exit code; what goes wrong is printed here."""
    try:
        session.drop_if_broken()
        return _dispatch(session, text.strip())
    except Stop as stop:
        if stop.message:
            note(stop.message)
        if stop.code == UNREACHABLE:
            session.drop()
        return stop.code
    except KeyboardInterrupt:
        note("Interrupted.")
        # An answer may be read half.
        session.drop()
        return CANCELLED


def _dispatch(session: ChatSession, text: str) -> int:
    if not text:
        return OK
    if text.startswith("//"):
        return answer_message(session, text[1:])
    if not text.startswith("/"):
        return answer_message(session, text)
    name, _, argument = text.partition(" ")
    command = COMMANDS.get(name)
    if command is None:
        raise Stop(_unknown_text(name), USAGE)
    return command.run(session, argument.strip())


def _unknown_text(name: str) -> str:
    unknown = f"there is no command {line(name, 40)}"
    # With no cutoff there is always one.
    near = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.0)
    return f"{unknown}; the nearest is {near[0]} (/help lists all; //… sends a message)"
