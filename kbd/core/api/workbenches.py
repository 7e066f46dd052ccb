"""Methods of workbenches: create, open, list, delete, fork, and choose a default model."""

import msgspec

from kbd.core.api.commands import record
from kbd.core.domain.commands import ChooseModel
from kbd.core.runtime.event_loop import Deferred
from kbd.core.runtime.fairness import read_in_turn
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.fork import fork_workbench
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.workbench.rows import disk_bytes, workbench_info, workbench_scope
from kbd.events.codec import format_time
from kbd.requests import workbenches as wire
from kbd.requests.base import Request
from kbd.requests.providers import DefaultModel
from kbd.types import Seq

__all__ = ["ForkMethods", "WorkbenchMethods"]


class WorkbenchMethods:
    """Handlers of workbenches: create, open, list, delete, default model."""

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._context, self._workbenches = context, workbenches

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.WorkbenchCreate: self.create,
            wire.WorkbenchOpen: self.open,
            wire.WorkbenchList: self.list,
            wire.WorkbenchDelete: self.delete,
            wire.WorkbenchArchive: self.archive,
            wire.WorkbenchUnarchive: self.unarchive,
            wire.WorkbenchGetScope: self.get_scope,
            wire.WorkbenchGetDefaultModel: self.get_default_model,
            wire.WorkbenchSetDefaultModel: self.set_default_model,
        }

    async def create(
        self, request: wire.WorkbenchCreate, session: Session
    ) -> wire.WorkbenchCreated:
        """Create an empty workbench."""
        workbench_id = await self._workbenches.create(request.name, actor=session.actor)
        session.name(workbench_id)
        return wire.WorkbenchCreated(workbench_id=workbench_id)

    async def open(self, request: wire.WorkbenchOpen, session: Session) -> wire.WorkbenchOpened:
        """Describe a workbench, recovered if need be."""
        del session
        workbench = await self._workbenches.open(request.workbench_id)
        size_bytes = await read_in_turn(disk_bytes, workbench.folders.root)
        model = self._context.egress.models.chosen_or_default(workbench.state.model_id)
        known = self._workbenches.known(workbench.id)
        info = workbench_info(known, workbench, size_bytes, model)
        verified_us = await self._context.verifications.verified_at_us(workbench.id)
        if verified_us:
            info = msgspec.structs.replace(info, verified_at=format_time(verified_us))
        return wire.WorkbenchOpened(workbench=info)

    async def list(self, request: wire.WorkbenchList, session: Session) -> wire.WorkbenchesFound:
        """List workbenches, by the index: no log is opened."""
        del session
        page, totals = await self._context.index.workbenches(request)
        home = self._context.home
        archives = self._workbenches.daemon.state.archives()
        return wire.WorkbenchesFound(
            workbenches=tuple(msgspec.Raw(row) for _, row in page.rows),
            daemon_disk_bytes=await read_in_turn(disk_bytes, home.daemon_log),
            landed_disk_bytes=await read_in_turn(disk_bytes, home.landings),
            total=page.total,
            next_cursor=page.next_cursor,
            drafts=totals.drafts,
            damaged=totals.damaged,
            unread=totals.unread,
            disk_bytes=totals.disk_bytes,
            archived=len(archives),
            archived_disk_bytes=sum(each.size_bytes for each in archives),
        )

    async def delete(
        self, request: wire.WorkbenchDelete, session: Session
    ) -> wire.WorkbenchDeleted:
        """Delete a workbench with its log."""
        await self._workbenches.delete(request.workbench_id, session.actor)
        return wire.WorkbenchDeleted()

    async def archive(
        self, request: wire.WorkbenchArchive, session: Session
    ) -> wire.WorkbenchArchived:
        """Pack a workbench that nobody uses."""
        archives, workbench_id = self._workbenches.archives, request.workbench_id
        copy = await archives.archive(workbench_id, "it was asked for", session.actor)
        return wire.WorkbenchArchived(
            size_bytes=copy.size_bytes,
            sha256=copy.sha256,
            archived_at=format_time(copy.archived_at_us),
        )

    async def unarchive(
        self, request: wire.WorkbenchUnarchive, session: Session
    ) -> wire.WorkbenchUnarchived:
        """Unpack a workbench."""
        archives, workbench_id = self._workbenches.archives, request.workbench_id
        await archives.unarchive(workbench_id, "it was asked for", session.actor)
        # Lists have its row from its state again.
        await self._workbenches.open(workbench_id)
        return wire.WorkbenchUnarchived()

    async def get_scope(self, request: wire.WorkbenchGetScope, session: Session) -> wire.Scope:
        """Return the scope of a run: what it may touch."""
        del session
        workbench = await self._workbenches.open(request.workbench_id)
        return workbench_scope(workbench, self._context.catalog, self._context.settings.limits)

    async def get_default_model(
        self, request: wire.WorkbenchGetDefaultModel, session: Session
    ) -> DefaultModel:
        """Return the default model of a workbench."""
        del session
        workbench = await self._workbenches.open(request.workbench_id)
        return DefaultModel(model_id=self._context.egress.models.of_workbench(workbench.state))

    def set_default_model(
        self, request: wire.WorkbenchSetDefaultModel, session: Session
    ) -> Deferred[DefaultModel]:
        """Set the default model of a workbench."""
        model_id = request.model_id
        # For its refusal alone: the log gets no model whose provider does not exist.
        self._context.egress.models.provider(model_id)
        self._context.egress.models.check_model_enabled(model_id)
        return record(
            self._workbenches,
            request.workbench_id,
            lambda _: ChooseModel(model_id),
            lambda _workbench, _outcome: DefaultModel(model_id=model_id),
            session.actor,
        )


class ForkMethods:
    """Handler of forks."""

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._context, self._workbenches = context, workbenches

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {wire.WorkbenchFork: self.fork}

    async def fork(self, request: wire.WorkbenchFork, session: Session) -> wire.WorkbenchForked:
        """Fork a workbench, as it is or as it was after an event.

        Raises:
            KbdError: As for `fork_workbench`; there is no fork.
        """
        message_id, seq = request.from_message_id, request.from_seq
        with self._workbenches.held(request.source_workbench_id):
            workbench_id = await fork_workbench(
                self._context,
                self._workbenches,
                request.source_workbench_id,
                request.mode,
                request.name,
                message_id=None if isinstance(message_id, msgspec.UnsetType) else message_id,
                seq=None if isinstance(seq, msgspec.UnsetType) else Seq(seq),
                actor=session.actor,
            )
        session.name(workbench_id)
        state = (await self._workbenches.open(workbench_id)).state
        return wire.WorkbenchForked(
            workbench_id=workbench_id,
            parent_workbench_id=request.source_workbench_id,
            mode=request.mode,
            source_seq=state.parent.source_seq if state.parent else Seq(0),
            files=len(state.files),
            messages=len(state.said),
        )
