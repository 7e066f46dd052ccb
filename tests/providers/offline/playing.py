"""A run of the offline provider against the real tools, without the daemon.

The openings, the receipts and the ticking of the plan are those of the daemon's agent.
"""

import json
from pathlib import Path
from typing import Any

import msgspec

from kbd.core.agent import plan as plans
from kbd.core.agent.context_window import truncate_result
from kbd.core.domain.state_text import PlanLine, render_plan
from kbd.errors import KbdError
from kbd.messages import Message
from kbd.providers import ModelReply, ModelRequest, ToolSchema
from kbd.testing.providers import NoAccess
from kbd.testing.tools import Workbench
from kbd.tools import Tool, ToolResult
from kbd.types import Phase
from kbd_csv import CsvFormat
from kbd_docx import DocxFormat
from kbd_edits import kbd_register_tools as edits
from kbd_files import kbd_register_tools as file_tools
from kbd_jobs import kbd_register_tools as job_tools
from kbd_ods import OdsFormat
from kbd_offline import OfflineProvider
from kbd_parquet import ArrowFormat, ParquetFormat
from kbd_pptx import PptxFormat
from kbd_tables import kbd_register_tools as table_tools
from kbd_text.handler import TextFormat
from kbd_xlsx import XlsxFormat

MAX_TURNS = 30


class Outcome(msgspec.Struct):
    """What a run led to.

    Args:
        research: research.md.
        plan: The plan as parsed.
        answers: Each item's final text.
        summary: The message to the user.
        calls: The names of the tools called, by phase.
        ends: The finish reason of each phase, in order.
    """

    research: str
    plan: plans.PlanText
    answers: list[str]
    summary: str
    calls: list[tuple[Phase, str]]
    ends: list[str]


class Player:
    """Plays the daemon's part.

    Args:
        root: A folder for the workbench.
        files: Names and contents of its files.
    """

    def __init__(self, root: Path, files: dict[str, str | bytes]) -> None:
        handlers = [
            CsvFormat(), DocxFormat(), PptxFormat(), TextFormat(), XlsxFormat(), OdsFormat(),
            ParquetFormat(), ArrowFormat(),
        ]  # fmt: skip
        self.workbench = Workbench(root, handlers)
        for name, data in files.items():
            self.workbench.add(name, data)
        formats = self.workbench.formats
        tools = [*file_tools(formats), *table_tools({}, formats), *edits(formats), *job_tools()]
        self._tools: dict[str, Tool] = {tool.name: tool for tool in tools}
        self.workbench.tools.update(self._tools)
        self._calls: list[tuple[Phase, str]] = []
        self._ends: list[str] = []
        self._ids: set[str] = set()
        self._entry = 0
        self._told: dict[bool, list[str]] = {False: [], True: []}
        self._has_worked = False
        self._before = {name: self.workbench.files.get(name).blob for name in files}

    async def run(self, request: str, earlier: str = "") -> Outcome:
        """Run the four phases; `earlier` are the messages before."""
        asked = f"<request>\n{request}\n</request>"
        if earlier:
            asked += f"\n\n<earlier_messages>\n{earlier}\n</earlier_messages>"
        research = await self.phase(Phase.RESEARCH, asked, self._files())
        block = f"<research>\n{research}\n</research>"
        plan = plans.parse_plan(await self.phase(Phase.PLAN, asked, block, self._files()), 1000)
        answers: list[str] = []
        text = ""
        for place, item in enumerate(plan.items, 1):
            marks = ["x" if n < place else " " for n in range(1, len(plan.items) + 1)]
            lines = [PlanLine(*line) for line in zip(plan.items, marks, strict=True)]
            text = render_plan(plan.task, lines, plan.notes, len(lines))
            block = f"<plan>\n{text}\n</plan>"
            tag = f'<item number="{place}" attempt="1">\n{item}\n</item>'
            answer = await self.phase(Phase.IMPLEMENT, asked, block, tag, self._files())
            answers.append(answer)
        summary = await self.phase(
            Phase.SUMMARY, asked, f"<plan>\n{text}\n</plan>", *self._results(plan, answers)
        )
        looks = [] if self._has_worked else self._told[True]
        told = plans.append_told(summary, list(dict.fromkeys(self._told[False] + looks)))
        return Outcome(research, plan, answers, told, self._calls, self._ends)

    @property
    def made(self) -> str:
        """The name of the only file that was added."""
        (name,) = set(self.workbench.files.names()) - set(self._before)
        return name

    def written(self) -> list[str]:
        """Return the names of the files that are there since, or were changed."""
        files = self.workbench.files
        return [name for name in files.names() if files.get(name).blob != self._before.get(name)]

    async def phase(self, phase: Phase, *blocks: str) -> str:
        """Run one phase to its text, a new provider each turn."""
        messages = [Message("system", "Do it."), Message("user", "\n\n".join(blocks))]
        for _ in range(MAX_TURNS):
            reply = await self._turn(phase, tuple(messages))
            if not reply.tool_calls:
                assert reply.text
                self._ends.append(reply.finish_reason)
                return reply.text
            messages.append(Message("assistant", reply.text, reply.tool_calls))
            for call in reply.tool_calls:
                assert call.id not in self._ids
                self._ids.add(call.id)
                self._calls.append((phase, call.name))
                result = await self._result(call.name, json.loads(call.arguments))
                messages.append(Message("tool", result, tool_call_id=call.id))
        msg = f"{phase} does not end"
        raise AssertionError(msg)

    async def _turn(self, phase: Phase, messages: tuple[Message, ...]) -> ModelReply:
        schemas = tuple(ToolSchema(name, "", {}) for name in self._tools)
        request = ModelRequest("planner", messages, schemas, phase=phase)
        heard: list[str] = []
        reply = await OfflineProvider().complete(request, NoAccess(), heard.append)
        assert "".join(heard) == reply.text
        return reply

    async def _result(self, name: str, arguments: dict[str, Any]) -> str:
        try:
            result = await self.workbench.call(self._tools[name], **arguments)
        except KbdError as error:
            return f"Error: {error.code}: {error.message}"
        # The rig's workbench numbers the calls that gave a result.
        self._entry += 1
        self._told[result.is_look] += result.told
        self._has_worked |= not result.is_look and name.startswith(("run_job", "table_"))
        return self._shown(name, result)

    def _shown(self, name: str, result: ToolResult) -> str:
        return truncate_result(
            name,
            self._entry,
            msgspec.json.encode(result.value).decode(),
            result.value,
            summary=result.summary,
            is_action=result.is_action,
        )

    def _files(self) -> str:
        files = self.workbench.files
        described = [files.describe(files.get(name)) for name in files.names()]
        return f"<files>\n```json\n{json.dumps({'files': described})}\n```\n</files>"

    def _results(self, plan: plans.PlanText, answers: list[str]) -> tuple[str, str]:
        items = [
            {"item": place, "label": item, "state": "done", "text": answer}
            for place, (item, answer) in enumerate(zip(plan.items, answers, strict=True), 1)
        ]
        added = sorted(set(self.workbench.files.names()) - set(self._before))
        changes = [{"path": path, "change_type": "added"} for path in added]
        changes += [
            {"path": path, "change_type": "modified"}
            for path, blob in sorted(self._before.items())
            if self.workbench.files.get(path).blob != blob
        ]
        results = json.dumps({"items": items})
        changed = json.dumps({"changes": changes})
        return (
            f"<results>\n```json\n{results}\n```\n</results>",
            f"<changes>\n```json\n{changed}\n```\n</changes>",
        )
