"""No way out of a container, tried from inside a desktop: the host by any address, other remotes, DNS; any protocol."""

from __future__ import annotations

import json
import socket
import subprocess
from contextlib import ExitStack

import pytest

from tests.support.remotes.agent import wait_until
from tests.support.system.containers import JUDGE, PLAYER, ROOT, shell
from universe_client.providers.containers.provider import DockerProvider

pytestmark = pytest.mark.docker

DESKTOP = "desktop.MoveFile-v0"
STARTER = {"user": "0:0", "cap_drop": ["ALL"], "cap_add": ["SETUID", "SETGID", "SETPCAP", "NET_ADMIN"]}
PROBE = """
import socket, sys
from concurrent.futures import ThreadPoolExecutor

def reached(family, kind, address, **options):
    with socket.socket(family, kind) as probe:
        probe.settimeout(1)
        try:
            if options.get("device"):
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, options["device"].encode())
            if options.get("source"):
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
                probe.bind((options["source"], 0))
            probe.connect(address)
            probe.send(b"out")
            return kind == socket.SOCK_STREAM
        except OSError:
            return False

def attempt(way):
    host, kind, device = way
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    address = socket.getaddrinfo(host, port, family, kind)[0][4]
    return reached(family, kind, address, device=device)

port = int(sys.argv[1])
devices = None, *(name for _, name in socket.if_nameindex() if name != "lo")
kinds = socket.SOCK_STREAM, socket.SOCK_DGRAM
ways = [(host, kind, device) for host in sys.argv[2:] for kind in kinds for device in devices]
with ThreadPoolExecutor(16) as threads:
    for (host, kind, device), out in zip(ways, threads.map(attempt, ways)):
        if out:
            print(host, kind.name, device)
own = socket.gethostbyname(socket.gethostname())
for group in ("255.255.255.255", "224.0.0.1", own.rpartition(".")[0] + ".255"):
    reached(socket.AF_INET, socket.SOCK_DGRAM, (group, port), source=own)
print("tried")
"""
ASK = """
import socket, struct, sys
name = b"".join(bytes([len(label)]) + label for label in sys.argv[1].encode().split(b".")) + b"\\0"
query = struct.pack(">6H", 7, 0x0100, 1, 0, 0, 0) + name + struct.pack(">2H", 1, 1)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as resolver:
    resolver.settimeout(2)
    try:
        resolver.sendto(query, ("127.0.0.11", 53))
        print("answered", len(resolver.recv(512)))
    except OSError as error:
        print("silent", type(error).__name__)
"""


class Listener:
    """A service of the host on all its addresses, by TCP and UDP, IPv4 and IPv6, on one port."""

    def __init__(self, stack):
        self.tcp = [stack.enter_context(socket.create_server(("", 0)))]
        self.port = self.tcp[0].getsockname()[1]
        v6 = socket.create_server(("::", self.port), family=socket.AF_INET6)
        self.tcp.append(stack.enter_context(v6))
        self.udp = []
        for family, host in ((socket.AF_INET, ""), (socket.AF_INET6, "::")):
            datagrams = stack.enter_context(socket.socket(family, socket.SOCK_DGRAM))
            if family == socket.AF_INET6:
                datagrams.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            datagrams.bind((host, self.port))
            self.udp.append(datagrams)

    def first_words(self):
        """What came first on each socket, after we have sent something ourselves: it is last in each queue."""
        for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            with socket.create_connection((host, self.port)) as own:
                own.send(b"own")
            with socket.socket(family, socket.SOCK_DGRAM) as own:
                own.sendto(b"own", (host, self.port))
        words = [datagrams.recv(10) for datagrams in self.udp]
        for listener in self.tcp:
            connection, _ = listener.accept()
            with connection:
                words.append(connection.recv(10))
        return words


@pytest.fixture
def listener():
    with ExitStack() as stack:
        yield Listener(stack)


def addresses_of_the_host():
    """All but the loopback's, link-local ones with their interface in the container."""
    done = subprocess.run(["ip", "-json", "address"], capture_output=True, check=True)
    found = [info["local"] for interface in json.loads(done.stdout) for info in interface["addr_info"]]
    usable = [address for address in found if not address.startswith("127.") and address != "::1"]
    return [f"{address}%eth0" if address.startswith("fe80") else address for address in usable]


def run_python(container, script, *arguments, user):
    quoted = " ".join(f"'{argument}'" for argument in arguments)
    return shell(container, f"python3 - {quoted} <<'END'\n{script}\nEND", user)[1].splitlines()


@pytest.fixture
def on_ipv6(daemon):
    """A desktop on a network with IPv6, as a daemon may be configured to make them."""
    import docker

    pool = docker.types.IPAMPool(subnet="fd00:c0de::/64", gateway="fd00:c0de::1")
    ipam = docker.types.IPAMConfig(pool_configs=[pool])
    network = daemon.networks.create("universe-client-test-v6", driver="bridge", enable_ipv6=True, ipam=ipam)
    container = None
    try:
        container = daemon.containers.run(
            "universe-client/desktop", [DESKTOP], detach=True, network=network.name, **STARTER
        )
        wait_until(lambda: b"vnc_port" in container.logs(), 30, "the line that it is ready")
        yield container
    finally:
        if container is not None:
            container.remove(force=True, v=True)
        network.remove()


@pytest.mark.parametrize("user", [PLAYER, JUDGE, ROOT])
def test_no_way_out_of_a_desktop_to_any_address_of_the_host(running_env, containers, listener, user):
    (container,) = containers(running_env(env_id=DESKTOP))
    hosts = addresses_of_the_host()
    (network,) = container.attrs["NetworkSettings"]["Networks"].values()
    assert network["Gateway"] in hosts, "the bridge is one of them"
    assert run_python(container, PROBE, listener.port, *hosts, "192.0.2.1", user=user) == ["tried"]
    assert listener.first_words() == [b"own"] * 4


def test_no_way_out_over_ipv6(on_ipv6, listener):
    hosts = addresses_of_the_host()
    assert "fd00:c0de::1" in hosts
    assert run_python(on_ipv6, PROBE, listener.port, *hosts, user=PLAYER) == ["tried"]
    assert listener.first_words() == [b"own"] * 4


def test_names_are_not_looked_up(running_env, containers):
    """Docker's resolver, on the container's loopback, knows the containers of a network, and asks the world."""
    (container,) = containers(running_env(env_id=DESKTOP))
    for name in (container.name, "example.org"):
        (answer,) = run_python(container, ASK, name, user=PLAYER)
        assert answer.startswith("silent"), (name, answer)


def test_containers_do_not_reach_one_another(running_env, containers):
    env = running_env(2)
    one, other = containers(env)
    (network,) = other.attrs["NetworkSettings"]["Networks"].values()
    reach = f"timeout 2 bash -c 'exec 3<>/dev/tcp/{network['IPAddress']}/15900'"
    assert shell(one, reach)[0] != 0
    assert shell(other, reach)[0] == 0


def test_a_network_that_is_asked_for_by_name_is_had(running_env, containers, listener):
    env = running_env(provider=DockerProvider(1, "gym-core.CartPole-v1", network="bridge"))
    (container,) = containers(env)
    gateway = container.attrs["NetworkSettings"]["Networks"]["bridge"]["Gateway"]
    found = run_python(container, PROBE, listener.port, gateway, user=JUDGE)
    assert f"{gateway} SOCK_STREAM None" in found
    assert {int(value, 16) for value in _capabilities(container)} == {0}


def _capabilities(container):
    script = "cat /proc/1/status /proc/self/status | grep -E '^Cap(Prm|Eff|Amb)' | cut -f2"
    return shell(container, script)[1].split()


def test_a_container_that_cannot_be_closed_does_not_start(daemon):
    """Without the capability, the network would stay open: there is no remote then."""
    container = daemon.containers.create(
        "universe-client/base", user="0:0", cap_drop=["ALL"], cap_add=["SETUID", "SETGID", "SETPCAP"]
    )
    try:
        container.start()
        assert container.wait(timeout=30)["StatusCode"] == 2
        assert b"CAP_NET_ADMIN" in container.logs()
    finally:
        container.remove(force=True, v=True)
