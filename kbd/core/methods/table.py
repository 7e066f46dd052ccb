"""The table of all methods."""

from kbd.core.methods.backups import BackupMethods
from kbd.core.methods.cases import CaseMethods
from kbd.core.methods.checkpoints import CheckpointMethods
from kbd.core.methods.contexts import ContextMethods
from kbd.core.methods.conversation import ConversationMethods
from kbd.core.methods.daemon import DaemonMethods
from kbd.core.methods.drafts import DraftMethods
from kbd.core.methods.egress import EgressMethods
from kbd.core.methods.files import FileMethods
from kbd.core.methods.forking import ForkMethods
from kbd.core.methods.formats import FormatMethods
from kbd.core.methods.holding import holding
from kbd.core.methods.logs import LogMethods
from kbd.core.methods.proofs import ProofMethods
from kbd.core.methods.providers import ProviderMethods
from kbd.core.methods.replays import ReplayMethods
from kbd.core.methods.shop import Shop
from kbd.core.methods.watches import WatchMethods
from kbd.core.methods.workbenches import WorkbenchMethods
from kbd.core.methods.workshop import WorkshopMethods
from kbd.core.methods.workspace import WorkspaceMethods
from kbd.core.server.dispatch import Handler
from kbd.requests.base import Request

__all__ = ["handlers"]


def handlers(shop: Shop) -> dict[type[Request], Handler]:
    """Return what answers each request: kbd's own and those that formats contribute."""
    table: dict[type[Request], Handler] = {}
    for subject in (
        DaemonMethods(shop),
        ProviderMethods(shop),
        WorkbenchMethods(shop),
        ForkMethods(shop),
        FileMethods(shop),
        ContextMethods(shop),
        WorkshopMethods(shop),
        ConversationMethods(shop),
        WorkspaceMethods(shop),
        DraftMethods(shop),
        CheckpointMethods(shop),
        EgressMethods(shop),
        LogMethods(shop),
        ReplayMethods(shop),
        ProofMethods(shop),
        WatchMethods(shop),
        FormatMethods(shop),
        CaseMethods(shop),
        BackupMethods(shop),
    ):
        table.update(subject.table())
    return holding(shop.benches, table)
