"""Remove our containers and networks: those of agents that have ended, or those of given sessions."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from universe_client.providers.containers.daemon import EngineError
from universe_client.providers.containers.engine import Engine
from universe_client.providers.containers.owner import SESSION, Owner

logger = logging.getLogger(__name__)

_ROUNDS = 20  # a running agent may start a container again meanwhile; more rounds are for a slow daemon
_AT_ONCE = 8  # removals
_Choice = Callable[[Mapping[str, str]], bool]


def reap(engine: Engine) -> Iterator[str]:
    """Remove our containers and networks whose owner has ended; yield the containers' names."""
    for container in engine.containers():
        if _is_orphaned(container.labels):
            engine.remove(container.id)
            yield container.name
    for refusal in _remove_networks(engine, _is_orphaned):
        logger.info("= a network is not removed: %s", refusal)  # another process removes its containers
    _remove_marks(engine, _is_orphaned)


def take_down(engine: Engine, is_chosen: _Choice) -> Iterator[str]:
    """Remove the containers and networks whose labels `is_chosen` accepts; yield the containers' names.

    A running agent would start its containers again. A volume marks the session as ended, which stops that; without the
    session's network, which is removed last, no container can start.

    Raises:
        EngineError: the daemon refused, or another program's container uses one of the networks.
    """
    for session, labels in _sessions(engine, is_chosen).items():
        engine.create_volume(_mark(session), labels)
    for _ in range(_ROUNDS):
        yield from _remove_containers(engine, is_chosen)
        refusals = list(_remove_networks(engine, is_chosen))
        if not refusals:
            break
    else:
        raise refusals[-1]
    yield from _remove_containers(engine, is_chosen)  # those that were created meanwhile and could not start
    _remove_marks(engine, is_chosen)


def session_is_open(engine: Engine, session: str) -> bool:
    """Return whether containers of a session may start: its network exists, and no mark shows that it was ended."""
    has_network = any(network.labels[SESSION] == session for network in engine.networks())
    return has_network and not any(volume.name == _mark(session) for volume in engine.volumes())


def _mark(session: str) -> str:
    return f"universe-client-{session}-ended"


def _sessions(engine: Engine, is_chosen: _Choice) -> dict[str, Mapping[str, str]]:
    """Return the labels of each session that `is_chosen` accepts."""
    found = [container.labels for container in engine.containers()]
    found += [network.labels for network in engine.networks()]
    return {labels[SESSION]: labels for labels in found if is_chosen(labels)}


def _remove_containers(engine: Engine, is_chosen: _Choice) -> Iterator[str]:
    found = [container for container in engine.containers() if is_chosen(container.labels)]
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        for container, _ in zip(found, threads.map(lambda one: engine.remove(one.id), found), strict=True):
            yield container.name


def _remove_networks(engine: Engine, is_chosen: _Choice) -> Iterator[EngineError]:
    """Remove the networks that can be removed; yield the errors of the others."""
    for network in engine.networks():
        if is_chosen(network.labels):
            try:
                engine.remove_network(network.id)
            except EngineError as error:
                yield error


def _remove_marks(engine: Engine, is_chosen: _Choice) -> None:
    for volume in engine.volumes():
        if is_chosen(volume.labels):
            engine.remove_volume(volume.name)


def _is_orphaned(labels: Mapping[str, str]) -> bool:
    owner = Owner.of(labels)
    return owner is not None and owner.has_ended
