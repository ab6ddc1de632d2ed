"""Taking away containers and networks of ours: those of dead agents, or those somebody no longer wants."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from universe_client.providers.containers.daemon import EngineError
from universe_client.providers.containers.engine import Engine
from universe_client.providers.containers.owner import SESSION, Owner

logger = logging.getLogger(__name__)

_ROUNDS = 20  # an agent's container that is starting may come back once; the rest is patience with the daemon
_AT_ONCE = 8  # removals
_Choice = Callable[[Mapping[str, str]], bool]


def reap(engine: Engine) -> Iterator[str]:
    """Remove the containers and networks of ours whose owner is dead; yield the containers' names."""
    for container in engine.containers():
        if _is_orphaned(container.labels):
            engine.remove(container.id)
            yield container.name
    for refusal in _remove_networks(engine, _is_orphaned):
        logger.info("= a network stays: %s", refusal)  # somebody else is reaping, and is not done yet
    _remove_marks(engine, _is_orphaned)


def take_down(engine: Engine, is_meant: _Choice) -> Iterator[str]:
    """Remove the containers and networks whose labels are meant, for good; yield the containers' names.

    An agent that lives starts its containers again, and perhaps is doing so. A volume that marks the session as ended
    keeps it from doing so once more; without the session's network, which goes last, none can start.

    Raises:
        EngineError: the daemon refused, or something that is not ours uses a network of ours.
    """
    for session, labels in _sessions(engine, is_meant).items():
        engine.create_volume(_mark(session), labels)
    for _ in range(_ROUNDS):
        yield from _remove_containers(engine, is_meant)
        refusals = list(_remove_networks(engine, is_meant))
        if not refusals:
            break
    else:
        raise refusals[-1]
    yield from _remove_containers(engine, is_meant)  # those that were made meanwhile, and could not start
    _remove_marks(engine, is_meant)


def session_lives(engine: Engine, session: str) -> bool:
    """Whether containers of this session may start: it has its network, and nobody is taking it down."""
    has_network = any(network.labels[SESSION] == session for network in engine.networks())
    return has_network and not any(volume.name == _mark(session) for volume in engine.volumes())


def _mark(session: str) -> str:
    return f"universe-client-{session}-ended"


def _sessions(engine: Engine, is_meant: _Choice) -> dict[str, Mapping[str, str]]:
    """Return the labels of each session that is meant."""
    found = [container.labels for container in engine.containers()]
    found += [network.labels for network in engine.networks()]
    return {labels[SESSION]: labels for labels in found if is_meant(labels)}


def _remove_containers(engine: Engine, is_meant: _Choice) -> Iterator[str]:
    found = [container for container in engine.containers() if is_meant(container.labels)]
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        for container, _ in zip(found, threads.map(lambda one: engine.remove(one.id), found), strict=True):
            yield container.name


def _remove_networks(engine: Engine, is_meant: _Choice) -> Iterator[EngineError]:
    """Remove what can be removed; yield why the others cannot."""
    for network in engine.networks():
        if is_meant(network.labels):
            try:
                engine.remove_network(network.id)
            except EngineError as error:
                yield error


def _remove_marks(engine: Engine, is_meant: _Choice) -> None:
    for volume in engine.volumes():
        if is_meant(volume.labels):
            engine.remove_volume(volume.name)


def _is_orphaned(labels: Mapping[str, str]) -> bool:
    owner = Owner.of(labels)
    return owner is not None and owner.is_dead
