"""Model names of the command line: resolve one, and say what helps when there is none."""

from kbd.cli.exits import USAGE, Stop
from kbd.cli.link import call
from kbd.cli.terminal import line
from kbd.client.blocking import Client

__all__ = ["NO_MODEL", "can_converse", "model_ids", "resolve_model"]

COMPATIBLE = "openai"
"""The provider that any server of chat completions is reached by (docs/how-to/models.md)."""

NO_MODEL = """\
No model is set up: fixed rules do requests about tables (split, total, filter, convert);
other questions are declined. /search WORDS needs no model. To set one up, leave, and:
  export OPENAI_API_KEY=…          (or OPENAI_BASE_URL=http://localhost:11434/v1)
  export KBD_MODEL=openai:NAME
  kbd stop"""


def can_converse(model_id: str) -> bool:
    """Whether it is one that can converse: the offline provider works by fixed rules."""
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
    form = f"Models are named provider:model, as {COMPATIBLE}:{line(named, 60)}"
    found = call(client, "ModelsListSupported")
    listed = [
        str(each["model_id"])
        for each in found["models"]
        if each["available"] and str(each["model_id"]).partition(":")[2] == named
    ]
    if len(listed) == 1:
        return listed[0]
    if listed:
        raise Stop(f"Several models are called so: {', '.join(listed)}. {form}.", USAGE)
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
    raise Stop(f"{line(named, 60)} names no provider, and {why}. {form}.", USAGE)
