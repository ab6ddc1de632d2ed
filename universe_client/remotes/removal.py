"""Taking away containers and networks of ours: those of dead agents, or those somebody no longer wants."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from secrets import token_hex

from universe_client.remotes.engine import Engine, EngineError, Network
from universe_client.remotes.owner import ENDED, SESSION, Owner

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
    for refusal in _remove_networks(engine, lambda network: _is_orphaned(network.labels)):
        logger.info("= a network stays: %s", refusal)  # somebody else is reaping, and is not done yet


def take_down(engine: Engine, is_meant: _Choice) -> Iterator[str]:
    """Remove the containers and networks whose labels are meant, for good; yield the containers' names.

    An agent that lives starts its containers again, and perhaps is doing so. A network that marks the session as ended
    keeps it from doing so once more; without the session's own network, which goes last, none can start.

    Raises:
        EngineError: the daemon refused, or something that is not ours uses a network of ours.
    """
    marks = [_mark(engine, labels) for labels in _sessions(engine, is_meant)]
    for _ in range(_ROUNDS):
        yield from _remove_containers(engine, is_meant)
        refusals = list(
            _remove_networks(engine, lambda network: network.id not in marks and is_meant(network.labels))
        )
        if not refusals:
            break
    else:
        raise refusals[-1]
    for mark in marks:
        engine.remove_network(mark)
    yield from _remove_containers(engine, is_meant)  # those that were made meanwhile, and could not start


def session_lives(engine: Engine, session: str) -> bool:
    """Whether containers of this session may start: it has its network, and nobody is taking it down."""
    networks = [network for network in engine.networks() if network.labels[SESSION] == session]
    return bool(networks) and not any(ENDED in network.labels for network in networks)


def _sessions(engine: Engine, is_meant: _Choice) -> Iterable[Mapping[str, str]]:
    """Return the labels of each session that is meant."""
    found = [container.labels for container in engine.containers()]
    found += [network.labels for network in engine.networks()]
    return {labels[SESSION]: labels for labels in found if is_meant(labels)}.values()


def _mark(engine: Engine, labels: Mapping[str, str]) -> str:
    name = f"universe-client-{labels[SESSION]}-ended-{token_hex(2)}"
    return engine.create_network(name, {**labels, ENDED: "true"})


def _remove_containers(engine: Engine, is_meant: _Choice) -> Iterator[str]:
    found = [container for container in engine.containers() if is_meant(container.labels)]
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        for container, _ in zip(found, threads.map(lambda one: engine.remove(one.id), found), strict=True):
            yield container.name


def _remove_networks(engine: Engine, is_meant: Callable[[Network], bool]) -> Iterator[EngineError]:
    """Remove what can be removed; yield why the others cannot."""
    for network in filter(is_meant, engine.networks()):
        try:
            engine.remove_network(network.id)
        except EngineError as error:
            yield error


def _is_orphaned(labels: Mapping[str, str]) -> bool:
    owner = Owner.of(labels)
    return owner is not None and owner.is_dead
