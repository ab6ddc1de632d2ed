"""What SECURITY.md promises of a container, asked of the daemon and from inside."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from tests.support.system.containers import JUDGE, PLAYER, ROOT, shell

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
    assert config["User"] == "0:0", "of the first process, until it has given up what it needs at the start"
    assert host["CapDrop"] == ["ALL"]
    assert {name.removeprefix("CAP_") for name in host["CapAdd"]} == {
        "SETUID",
        "SETGID",
        "SETPCAP",
        "NET_ADMIN",
    }
    assert not host["Privileged"]
    assert "no-new-privileges" in host["SecurityOpt"]
    assert host["ReadonlyRootfs"]
    assert not host["Init"], "the entrypoint is process 1, and waits for orphans"
    (profile,) = (option for option in host["SecurityOpt"] if option.startswith("seccomp="))
    assert json.loads(profile.removeprefix("seccomp="))["defaultAction"] == "SCMP_ACT_ERRNO"
    assert host["Memory"] == host["MemorySwap"] == 512 * MIB
    assert host["PidsLimit"] == 128
    assert 0 < host["NanoCpus"] <= 1e9
    assert host["ShmSize"] == 64 * MIB
    assert {limit["Name"]: limit["Hard"] for limit in host["Ulimits"]} == {"nofile": 4096, "nproc": 32768}
    assert set(host["Tmpfs"]["/tmp"].split(",")) >= {"noexec", "nosuid", "nodev"}
    for path, size in (("/run/secrets", 65536), ("/run/remote", 16 * MIB)):
        options = set(host["Tmpfs"][path].split(","))
        assert options >= {"noexec", "nosuid", "nodev", "mode=700", "uid=1000", f"size={size}"}
    assert not host["Binds"] and not container.attrs["Mounts"], "nothing of the machine's"
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


def test_no_process_is_root_or_has_a_capability(running_env, containers):
    (container,) = containers(running_env(env_id="desktop.MoveFile-v0"))
    status, found = shell(container, "for p in /proc/[0-9]*; do echo; cat $p/status; done 2>/dev/null", ROOT)
    processes = [
        dict(line.split(":\t", 1) for line in block.splitlines() if ":\t" in line)
        for block in found.split("\n\n")
    ]
    ours = [fields for fields in processes if fields["Uid"].split()[0] != "0"]
    assert status == 0
    assert {fields["Name"] for fields in processes} - {fields["Name"] for fields in ours} <= {
        "bash",
        "cat",
    }, "root is this test's own shell"
    assert {fields["Name"] for fields in ours} >= {"python", "Xvnc", "openbox", "xterm"}
    for fields in ours:
        assert set(fields["Uid"].split()) in ({"1000"}, {"1001"}), fields["Name"]
        sets = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
        assert {int(fields[name], 16) for name in sets} == {0}, fields["Name"]
        assert (fields["NoNewPrivs"], fields["Seccomp"]) == ("1", "2"), fields["Name"]
    users = {fields["Name"]: fields["Uid"].split()[0] for fields in ours}
    assert [users[name] for name in ("Xvnc", "openbox", "xterm")] == ["1000", "1001", "1001"]


def test_secrets_lie_in_little_memory_from_which_nothing_runs(remote):
    _, container = remote
    script = "printf '#!/bin/sh\n' > /run/secrets/x; chmod +x /run/secrets/x; /run/secrets/x"
    assert shell(container, script)[0] == 126
    assert shell(container, "head -c 1M /dev/zero > /run/secrets/y")[0] != 0


def test_there_is_no_setuid_file_and_nothing_can_be_written_but_tmp(remote):
    _, container = remote
    assert shell(container, "find / -xdev -perm /6000 2>/dev/null")[1] == ""
    assert shell(container, "touch /opt/x /usr/x /root/x")[0] != 0
    assert shell(container, "printf '#!/bin/sh\n' > /tmp/x && chmod +x /tmp/x && /tmp/x")[0] == 126


def test_the_password_is_a_private_file_and_nowhere_else(remote):
    env, container = remote
    password = env.remotes[0].link.address.rewarder.password
    assert len(password) >= 16
    assert shell(container, "cat /run/secrets/password")[1] == password
    assert shell(container, "stat -c %a:%u /run/secrets/password /run/secrets")[1] == "600:1000\n700:1000"
    assert password[:8] not in json.dumps(container.attrs)
    for user in (JUDGE, PLAYER):
        told = shell(container, "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null", user)[1]
        assert "rewarder" in told and password[:8] not in told
    assert shell(container, "ls /run/secrets || cat /run/secrets/password", PLAYER)[0] != 0
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
    """What the browser's containers may do beside the others', tried with both profiles."""
    profiles = Path(__file__).parents[2] / "docker"
    status = {}
    for name in ("seccomp-browser.json", "seccomp.json"):
        options = ["no-new-privileges", f"seccomp={(profiles / name).read_text()}"]
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
    assert status["seccomp-browser.json"] == 0
    assert status["seccomp.json"] != 0


@pytest.mark.parametrize("name", ["base", "gym-core", "browser", "desktop"])
def test_every_image_is_without_root_and_setuid_files(daemon, name):
    found = daemon.containers.run(
        f"universe-client/{name}",
        ["-c", "id -u; find / -xdev -perm /6000 2>/dev/null; true"],
        entrypoint="sh",
        remove=True,
    )
    assert found.decode().split() == ["1000"]
