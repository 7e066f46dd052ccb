"""Slash commands that change something: publish, discard, undo, clear, model, reload, verbose."""

import os
from typing import Any

from kbd.cli.chat.busy import READING, show_busy
from kbd.cli.chat.folder import ImportHistory, import_folder, made_by_kbd, read_workbench_files
from kbd.cli.chat.model_names import NO_MODEL, can_converse, model_ids, resolve_model
from kbd.cli.chat.session import ChatSession
from kbd.cli.conversation import is_message, read_conversation
from kbd.cli.exits import CONFIRMATION_NEEDED, FAILED, OK, USAGE, Stop
from kbd.cli.files import extract
from kbd.cli.link import call
from kbd.cli.publish import publish as publish_draft
from kbd.cli.review import changed_paths, render_changes
from kbd.cli.terminal import ask, counted, is_interactive, line, note, say

__all__ = ["clear", "discard", "model", "publish", "reload", "undo", "verbose"]


def publish(session: ChatSession, argument: str) -> int:
    """Make the draft's changes the workbench's files; copy results to a folder if one is named.

    Without a draft the folder gets all that kbd made in this workbench.

    Raises:
        Stop: Nobody agreed, there is nothing to publish, or the folder cannot be written.
        RequestRefused: A published file changed meanwhile.
    """
    changes = session.ask("ReviewGetChangeSet")["changes"]
    if changes:
        note(render_changes(changes))
        _confirm(session, "Publish these changes?")
        done = publish_draft(session.client, session.workbench_id, yes=session.says_yes)
        for path in done["published"]:
            say(f"published {line(path)}")
    elif not argument:
        raise Stop("There is no draft: nothing waits to be published.", FAILED)
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
        raise Stop("There are no results yet: every file is as it was added.", FAILED)
    for path in extract(session.client, session.workbench_id, os.path.expanduser(folder), paths):
        say(f"-> {path}")


def discard(session: ChatSession, argument: str) -> int:
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


def _confirm(session: ChatSession, question: str) -> None:
    if session.says_yes:
        return
    if not is_interactive():
        raise Stop(f"{question} Nobody can be asked here; --yes says yes.", CONFIRMATION_NEEDED)
    if not ask(question):
        raise Stop("Nothing was done; the draft is kept.", CONFIRMATION_NEEDED)


def undo(session: ChatSession, argument: str) -> int:
    """Undo the last questions, with their answers and all that those did.

    Raises:
        Stop: There are not so many.
    """
    if argument and not (argument.isascii() and argument.isdigit() and int(argument)):
        raise Stop("How many questions back? /undo, /undo 2", USAGE)
    back = int(argument or 1)
    messages = [
        each for each in read_conversation(session.client, session.workbench_id) if is_message(each)
    ]
    asked = [at for at, each in enumerate(messages) if each["role"] == "user"]
    if back > len(asked):
        raise Stop(f"Nothing is undone: {counted(len(asked), 'question')} so far.", FAILED)
    first = asked[-back]
    if first == 0 and len(messages) == 1:
        raise Stop("There is nothing before the first question; /clear begins anew.", FAILED)
    target = messages[max(first - 1, 0)]
    done = session.ask("WorkshopUndoToMessage", message_id=target["message_id"], slow=True)
    said = line(str(target["text"]), 60)
    say(f"The conversation ends again in: {said}")
    if first == 0:
        note("The first question stays, unanswered: /clear begins without it.")
    if done["files_changed"]:
        say(f"Files as they were then: {', '.join(line(path) for path in done['files_changed'])}")
    say(f"Draft: {'as it was then, see /review' if done['has_draft'] else 'none'}")
    note(f"All of it back: kbd undo {session.workbench_id} {messages[-1]['message_id']}")
    return OK


def clear(session: ChatSession, argument: str) -> int:
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
        raise Stop("A draft is open: /publish or /discard it first (/review shows it).", FAILED)
    before = session.workbench_id
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
    session.ask("WorkshopSetActiveModel", model_id=state["active_model_id"])
    if session.index_dir:
        session.ask("WorkspaceReloadIndex", index_dir=session.index_dir, slow=True)
    say("A new conversation, with the same files.")
    note(f"The one before: kbd chat {before}. This one: kbd chat {session.workbench_id}")
    return OK


def _next_name(session: ChatSession) -> str:
    taken = {each["name"] for each in call(session.client, "WorkbenchList")["workbenches"]}
    base, _, number = session.name.rpartition(" (")
    base = base if base and number[:-1].isdigit() and number.endswith(")") else session.name
    return next(
        name for count in range(2, len(taken) + 3) if (name := f"{base} ({count})") not in taken
    )


def model(session: ChatSession, argument: str) -> int:
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


def reload(session: ChatSession, argument: str) -> int:
    """Look into the folder again and bring the index up to date, or use that in another folder.

    Raises:
        RequestRefused: The folder holds something else.
    """
    if session.folder:
        import_folder(session, session.folder)
    index_dir = os.path.abspath(os.path.expanduser(argument)) if argument else session.index_dir
    params: dict[str, Any] = {"index_dir": index_dir} if index_dir else {}
    with show_busy(READING):
        found = session.ask("WorkspaceReloadIndex", slow=True, **params)
    session.index_dir = index_dir
    by = f", {found['embedded']:,} of them by meaning ({line(found['embedder'])})"
    say(
        f"{counted(found['num_docs'], 'document')}, {counted(found['num_chunks'], 'piece')} of "
        f"text{by if found['embedder'] else ''}."
    )
    for warning in found.get("warnings") or ():
        note(f"  ! {line(warning)}")
    return OK


def verbose(session: ChatSession, argument: str) -> int:
    """Show tool calls in full from now on, or no more."""
    del argument
    session.is_verbose = not session.is_verbose
    say(f"Tool calls are shown {'in full' if session.is_verbose else 'in short'}.")
    return OK
