"""The part of `universe-client ps`, `down` and `reap` that concerns the actors of `ray:N` remotes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from universe_client.errors import ConfigError
from universe_client.providers.containers.owner import Owner
from universe_client.providers.ray import system
from universe_client.providers.ray.records import Description
from universe_client.providers.ray.system import ActorLost

_ANSWER = 5.0
_RETIRE = 15.0


@dataclass(frozen=True, slots=True)
class Found:
    """One of our actors.

    Attributes:
        name: its name.
        handle: Ray's handle of it.
        description: what it says about itself; None if it waits for a place or does not answer.
    """

    name: str
    handle: Any
    description: Description | None

    @property
    def session(self) -> str:
        """The name of its session."""
        return self.name.removeprefix("universe-client-").partition("-")[0]

    @property
    def owner(self) -> Owner | None:
        """The agent's process; None if it is unknown."""
        return None if self.description is None else Owner.of(self.description.plan.owner)


def connected() -> bool:
    """Connect to the cluster of `$RAY_ADDRESS` or of this machine; return whether there is one."""
    address = system.known_address() if system.is_installed() else None
    if address is None:
        return False
    try:
        system.connect(address)
    except ConfigError:
        return False
    return True


def print_table(console: Console) -> None:
    """Print a table of our actors in the cluster."""
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("actor", "remotes", "state", "node", "session", "agent"):
        table.add_column(column, overflow="fold")
    for actor in _found():
        table.add_row(*_row(actor))
    console.print(table)


def take_down(console: Console, sessions: Sequence[str]) -> None:
    """End the actors of these sessions, or of all this user's agents on this machine; their agents learn of it."""
    _end(console, [actor for actor in _found() if _is_chosen(actor, sessions)])


def reap(console: Console) -> None:
    """End the actors whose agent has ended, in case Ray has not."""
    _end(console, [actor for actor in _found() if actor.owner is not None and actor.owner.has_ended])


def _found() -> list[Found]:
    asked = [(name, handle, handle.describe.remote()) for name, handle in system.named()]
    return [Found(name, handle, _answer(reference)) for name, handle, reference in asked]


def _answer(reference: Any) -> Description | None:
    try:
        description: Description = system.get(reference, _ANSWER)
    except ActorLost:
        return None
    return description


def _is_chosen(actor: Found, sessions: Sequence[str]) -> bool:
    if sessions:
        return actor.session in sessions
    return actor.owner is not None and actor.owner.is_local


def _end(console: Console, actors: Sequence[Found]) -> None:
    retiring = [actor.handle.retire.remote() for actor in actors if actor.description is not None]
    for reference in retiring:
        try:
            system.get(reference, _RETIRE)
        except ActorLost:
            continue  # its agent, which has learnt of it, or Ray was quicker
    for actor in actors:
        system.kill(actor.handle)
        console.print(f"ended {actor.name}")
    console.print(f"{len(actors)} actor{'' if len(actors) == 1 else 's'} ended")


def _row(actor: Found) -> tuple[str | Text, ...]:
    description = actor.description
    if description is None:
        return actor.name, "-", Text("waits for a place", "yellow"), "-", actor.session, Text("-")
    plan, running = description.plan, description.running
    return (
        actor.name,
        f"{plan.env_id} ({plan.kind})",
        Text(f"{running} of {len(plan.indexes)} run", "green" if running else "red"),
        description.host,
        actor.session,
        _agent(actor.owner),
    )


def _agent(owner: Owner | None) -> Text:
    if owner is None:
        return Text("-")
    if not owner.is_local:
        return Text(f"{owner.pid} on {owner.machine.partition(' ')[0]}")
    return Text(f"{owner.pid} has ended", "red") if owner.has_ended else Text(str(owner.pid))
