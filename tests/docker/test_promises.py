"""What SECURITY.md promises of a container, asked of the daemon and from inside."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from tests.docker.conftest import shell

pytestmark = pytest.mark.docker

MIB = 1 << 20


@pytest.fixture
def remote(running_env, containers):
    env = running_env()
    (container,) = containers(env)
    return env, container


def test_inspect_shows_an_unprivileged_bounded_container(remote):
    _, container = remote
    host, config = container.attrs["HostConfig"], container.attrs["Config"]
    assert config["User"] == "1000:1000"
    assert host["CapDrop"] == ["ALL"] and not host["CapAdd"]
    assert not host["Privileged"]
    assert "no-new-privileges" in host["SecurityOpt"]
    assert host["ReadonlyRootfs"]
    assert host["Init"]
    assert host["Memory"] == host["MemorySwap"] == 512 * MIB
    assert host["PidsLimit"] == 128
    assert 0 < host["NanoCpus"] <= 1e9
    assert host["ShmSize"] == 64 * MIB
    assert {limit["Name"]: limit["Hard"] for limit in host["Ulimits"]} == {"nofile": 4096, "nproc": 32768}
    assert set(host["Tmpfs"]["/tmp"].split(",")) >= {"noexec", "nosuid", "nodev"}
    assert host["Binds"] == ["/run/secrets"], "a volume of its own, nothing of the machine's"
    assert not host["Devices"]
    assert host["RestartPolicy"]["Name"] in ("", "no")
    assert host["NetworkMode"] not in ("host", "bridge", "default")
    assert host["PidMode"] == "" and host["IpcMode"] == "private"


def test_both_ports_are_on_the_loopback_only_and_chosen_by_the_daemon(remote):
    env, container = remote
    ports = container.attrs["NetworkSettings"]["Ports"]
    assert ports.keys() == {"5900/tcp", "15900/tcp"}
    for hosts in ports.values():
        assert [host["HostIp"] for host in hosts] == ["127.0.0.1"]
    address = env.remotes[0].link.address
    assert int(ports["5900/tcp"][0]["HostPort"]) == address.vnc.port
    assert int(ports["15900/tcp"][0]["HostPort"]) == address.rewarder.port


def test_the_kernel_gives_its_processes_nothing(remote):
    _, container = remote
    status, found = shell(container, "cat /proc/1/status")
    fields = dict(line.split(":\t", 1) for line in found.splitlines() if ":\t" in line)
    assert status == 0
    assert fields["Uid"].split() == ["1000"] * 4
    assert {int(fields[name], 16) for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
    assert fields["NoNewPrivs"] == "1"
    assert fields["Seccomp"] == "2"


def test_there_is_no_setuid_file_and_nothing_can_be_written_but_tmp(remote):
    _, container = remote
    assert shell(container, "find / -xdev -perm /6000 2>/dev/null")[1] == ""
    assert shell(container, "touch /opt/x /usr/x /root/x")[0] != 0
    assert shell(container, "printf '#!/bin/sh\n' > /tmp/x && chmod +x /tmp/x && /tmp/x")[0] == 126


def test_there_is_no_way_out_to_the_network(remote):
    _, container = remote
    gateway = container.attrs["NetworkSettings"]["Networks"]
    assert all(network["Gateway"] for network in gateway.values()), "a bridge of our own"
    status, output = shell(
        container, "timeout 3 bash -c 'exec 3<>/dev/tcp/192.0.2.1/80 || exec 3<>/dev/tcp/1.1.1.1/53'; echo $?"
    )
    assert status == 0
    assert output.splitlines()[-1] != "0"


def test_containers_do_not_reach_one_another(running_env, containers):
    env = running_env(2)
    one, other = containers(env)
    (network,) = other.attrs["NetworkSettings"]["Networks"].values()
    reach = f"timeout 2 bash -c 'exec 3<>/dev/tcp/{network['IPAddress']}/15900'"
    assert shell(one, reach)[0] != 0
    assert shell(other, reach)[0] == 0


def test_the_password_is_a_private_file_and_nowhere_else(remote):
    env, container = remote
    password = env.remotes[0].link.address.rewarder.password
    assert len(password) >= 16
    assert shell(container, "cat /run/secrets/password")[1] == password
    assert shell(container, "stat -c %a:%u /run/secrets/password /run/secrets")[1] == "400:1000\n700:1000"
    assert password[:8] not in json.dumps(container.attrs)
    assert password[:8] not in shell(container, "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline")[1]
    assert password[:8] not in container.logs().decode()
    assert password not in repr(env.provider) + repr(env.remotes[0].link.address)


def test_each_container_has_a_password_of_its_own(running_env):
    env = running_env(2)
    assert len({remote.link.address.rewarder.password for remote in env.remotes}) == 2


def test_a_wrong_password_does_not_get_in(remote):
    env, _ = remote
    port = env.remotes[0].link.address.rewarder.port
    request = (
        "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(request.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 401")


def test_health_is_the_rewarders_word_and_no_vnc_connection(remote, daemon):
    _, container = remote
    image = daemon.images.get(container.attrs["Image"])
    assert image.attrs["Config"]["Healthcheck"]["Test"] == ["CMD", "healthcheck"]
    before = shell(container, "cat /proc/net/tcp")[1].count(":170C ")
    assert container.exec_run(["healthcheck"])[0] == 0
    assert shell(container, "cat /proc/net/tcp")[1].count(":170C ") == before
    assert shell(container, "grep -c 15900 /usr/local/bin/healthcheck")[1] == "1"
    assert shell(container, "grep 5900 /usr/local/bin/healthcheck | grep -v 15900")[1] == ""


def test_chromiums_sandbox_gets_its_namespaces_and_nothing_else_does(daemon):
    """What the browser's containers may do beside the others', tried in both."""
    profile = "seccomp=" + (Path(__file__).parents[2] / "docker" / "seccomp.json").read_text()
    status = {}
    for name, options in (("ours", ["no-new-privileges", profile]), ("default", ["no-new-privileges"])):
        container = daemon.containers.create(
            "universe-client/base",
            ["-c", "unshare -U -r chroot / true && ! unshare -U -r -m mount -t tmpfs none /tmp 2>/dev/null"],
            entrypoint="sh",
            cap_drop=["ALL"],
            security_opt=options,
        )
        container.start()
        status[name] = container.wait()["StatusCode"]
        container.remove(v=True)
    assert status["ours"] == 0
    assert status["default"] != 0


@pytest.mark.parametrize("name", ["base", "gym-core", "browser", "desktop"])
def test_every_image_is_without_root_and_setuid_files(daemon, name):
    found = daemon.containers.run(
        f"universe-client/{name}",
        ["-c", "id -u; find / -xdev -perm /6000 2>/dev/null; true"],
        entrypoint="sh",
        remove=True,
    )
    assert found.decode().split() == ["1000"]
