"""No daemon, a daemon of another machine, or no SDK: each error names the remedy."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from universe_client.errors import ConfigError
from universe_client.providers.containers.daemon import EngineMissing
from universe_client.providers.containers.engine import Engine

REPOSITORY = Path(__file__).parents[4]


@pytest.fixture
def free_port():
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        yield reserved.getsockname()[1]  # bound, but nobody listens


def test_no_daemon_says_how_to_start_one(monkeypatch, free_port):
    monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{free_port}")
    with pytest.raises(EngineMissing, match=r"no Docker daemon answers at tcp://127.*systemctl start docker"):
        Engine()


def test_no_socket_says_how_to_start_one(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    with pytest.raises(EngineMissing, match=r"systemctl start docker.*or set DOCKER_HOST"):
        Engine()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open any socket")
def test_a_forbidden_socket_says_which_group_opens_it(monkeypatch, tmp_path):
    path = tmp_path / "docker.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        path.chmod(0)
        monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
        with pytest.raises(EngineMissing, match="usermod -aG docker"):
            Engine()


@pytest.mark.parametrize("url", ["tcp://192.0.2.7:2375", "ssh://me@example.org", "https://example.org:2376"])
def test_a_daemon_elsewhere_is_refused_before_anything_is_sent(monkeypatch, url):
    monkeypatch.setenv("DOCKER_HOST", url)
    with pytest.raises(ConfigError, match=r"DOCKER_HOST is on .*loopback only.*ssh -L"):
        Engine()


@pytest.fixture
def without_sdk(tmp_path):
    """Everything that is installed here, but the Docker SDK."""
    spec = importlib.util.find_spec("docker")
    assert spec is not None and spec.origin is not None
    for entry in Path(spec.origin).parents[1].iterdir():
        if not entry.name.startswith("docker"):
            (tmp_path / entry.name).symlink_to(entry)
    return tmp_path


def test_without_the_sdk_the_error_names_the_extra_even_where_our_docker_folder_can_be_imported(without_sdk):
    stdlib = [path for path in sys.path if "site-packages" not in path and path not in ("", str(REPOSITORY))]
    script = (
        f"import sys; sys.path[:] = {[str(REPOSITORY), *stdlib, str(without_sdk)]!r}\n"
        "import docker\n"
        "print(docker.__file__, list(docker.__path__))\n"
        "from universe_client.providers.containers.engine import check_sdk\n"
        "try: check_sdk()\n"
        "except Exception as error: print(repr(error))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True)
    assert done.stderr == ""
    folder, error = done.stdout.splitlines()
    assert folder == f"None [{str(REPOSITORY / 'docker')!r}]", "the trap is set"
    assert (
        error.startswith("ConfigError(")
        and "pip install '.[docker]' in a checkout of universe-client" in error
    )


def profile(name):
    return json.loads((REPOSITORY / "docker" / name).read_text())


def always_allowed(rules):
    return {
        name
        for rule in rules["syscalls"]
        for name in rule["names"]
        if rule["action"] == "SCMP_ACT_ALLOW" and "args" not in rule
    }


def test_our_seccomp_profile_refuses_what_no_remote_needs():
    rules = profile("seccomp.json")
    allowed = always_allowed(rules)
    assert rules["defaultAction"] == "SCMP_ACT_ERRNO"
    assert {"execve", "futex", "setresuid"} <= allowed
    assert not allowed & {"mount", "umount2", "setns", "ptrace", "bpf", "keyctl", "init_module", "reboot"}
    assert not allowed & {"perf_event_open", "userfaultfd", "io_uring_setup", "pivot_root", "kexec_load"}
    assert not allowed & {"clone", "unshare", "chroot", "socket", "process_vm_writev", "pidfd_getfd"}
    (clone,) = (rule for rule in rules["syscalls"] if rule["names"] == ["clone"])
    namespaces = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET: sched.h
    assert clone["args"] == [{"index": 0, "value": namespaces, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}]
    families = [rule["args"][0]["value"] for rule in rules["syscalls"] if rule["names"] == ["socket"]]
    assert families == [socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK]


def test_the_browsers_profile_has_namespaces_for_chromiums_sandbox_and_nothing_else_beside():
    plain, browsers = profile("seccomp.json"), profile("seccomp-browser.json")
    assert always_allowed(browsers) - always_allowed(plain) == {"clone", "unshare", "chroot"}
    both = [
        [rule for rule in rules["syscalls"] if "clone" not in rule["names"]] for rules in (plain, browsers)
    ]
    assert both[0] == both[1]
    assert {**plain, "syscalls": None} == {**browsers, "syscalls": None}
