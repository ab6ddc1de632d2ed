"""An agent with a shell attacks its judge from the terminal of a task (F46)."""

from __future__ import annotations

import json
import re

import pytest

from tests.support.remotes.agent import one_step, until, wait_until
from tests.support.remotes.tasks import instruction, result
from tests.support.system.containers import (
    PLAYER,
    containers,
    daemon,
    engine,
    open_env,
    running_env,
    shell,
    tidy,
)
from universe_client import type_text

__all__ = ["containers", "daemon", "engine", "open_env", "running_env", "tidy"]

pytestmark = pytest.mark.docker

TERMINAL = "desktop.MoveFile-v0"
OUTCOME = "/tmp/outcome"
ATTACK = r"""
import ctypes, json, os, resource, signal, socket, struct, subprocess, sys
from pathlib import Path

libc = ctypes.CDLL(None, use_errno=True)
outcome = {}

def attack(name, what, *arguments):
    try:
        what(*arguments)
        outcome[name] = "done"
    except (PermissionError, ConnectionError) as error:
        outcome[name] = "refused"
    except OSError as error:
        outcome[name] = type(error).__name__ + " " + str(error)

def call(function, *arguments):
    if getattr(libc, function)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), function)

def take_file_of(pid):
    file = libc.syscall(434, pid, 0)  # pidfd_open
    if libc.syscall(438, file, 0, 0) < 0:  # pidfd_getfd
        raise OSError(ctypes.get_errno(), "pidfd_getfd")

def configure(setting):
    name = setting.partition("=")[0]
    def value():
        return subprocess.run(["vncconfig", "-get", name], capture_output=True, check=True).stdout
    before = value()
    subprocess.run(["vncconfig", "-set", setting], capture_output=True)
    if value() == before:
        raise PermissionError

def http(*headers):
    with socket.create_connection(("127.0.0.1", 15900), 5) as rewarder:
        lines = ["GET / HTTP/1.1", "Host: localhost", "Upgrade: websocket", "Connection: Upgrade",
                 "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==", *headers]
        rewarder.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        if b" 401 " in rewarder.recv(100):
            raise PermissionError

def vnc():
    with socket.create_connection(("127.0.0.1", 5900), 5) as server:
        server.sendall(server.recv(12))
        types = server.recv(server.recv(1)[0])
        if 1 not in types:  # None, RFC 6143 7.1.2
            raise PermissionError

pids = [int(entry.name) for entry in Path("/proc").glob("[0-9]*")]
judges = [pid for pid in pids if "\nUid:\t1000\t" in Path(f"/proc/{pid}/status").read_text()]
assert len(judges) >= 2, "the rewarder and Xvnc"
for pid in judges:
    name = Path(f"/proc/{pid}/comm").read_text().strip() + f" {pid}: "
    for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGKILL):
        attack(name + number.name, os.kill, pid, number)
    attack(name + "group", os.killpg, os.getpgid(pid), signal.SIGKILL)
    attack(name + "ptrace", call, "ptrace", 16, pid, 0, 0)
    attack(name + "process_vm_writev", call, "process_vm_writev", pid, 0, 0, 0, 0, 0)
    attack(name + "pidfd_getfd", take_file_of, pid)
    attack(name + "priority", os.setpriority, os.PRIO_PROCESS, pid, 19)
    attack(name + "affinity", os.sched_setaffinity, pid, [0])
    attack(name + "limits", resource.prlimit, pid, resource.RLIMIT_NOFILE, (3, 3))
    for file in ("mem", "environ", "maps"):
        attack(name + file, Path(f"/proc/{pid}/{file}").read_bytes)
    for file in ("fd", "fdinfo"):
        attack(name + file, os.listdir, f"/proc/{pid}/{file}")
    for file in ("cwd", "root", "exe"):
        attack(name + file, os.readlink, f"/proc/{pid}/{file}")
for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL):
    os.kill(1, number)  # of the same user; the kernel delivers none of them
attack("process 1: ptrace", call, "ptrace", 16, 1, 0, 0)
attack("process 1: descriptors", os.listdir, "/proc/1/fd")
attack("process 1: memory", Path("/proc/1/mem").read_bytes)
attack("process 1: pidfd_getfd", take_file_of, 1)
for path in ("/run/secrets", "/run/remote"):
    attack(path, os.listdir, path)
attack("password", Path("/run/secrets/password").read_bytes)
attack("another user", os.setuid, 1000)
attack("root", os.setuid, 0)
attack("the judge's group", os.setgid, 1000)
for setting in ("SecurityTypes=None", "PasswordFile=/tmp/mine", "AcceptKeyEvents=0", "AcceptPointerEvents=0"):
    attack(setting, configure, setting)
attack("rewarder without a password", http)
attack("rewarder with a guess", http, "Authorization: Basic b3BlbmFpOg==")
attack("vnc without a password", vnc)
for namespace in (0x10000000, 0x40000000, 0x00020000):
    attack(f"unshare {namespace:#x}", call, "unshare", namespace)
attack("mount", call, "mount", b"none", b"/tmp", b"tmpfs", 0, 0)
attack("a packet socket", socket.socket, 17, socket.SOCK_RAW)
Path(sys.argv[1] + ".new").write_text(json.dumps(outcome))
os.rename(sys.argv[1] + ".new", sys.argv[1])
"""


@pytest.fixture
def terminal(open_env, containers):
    """Yield an environment with a terminal, its container, and the task's text."""
    env = open_env(env_id=TERMINAL)
    env.reset(seed=1)
    _, text = instruction(env)
    (container,) = containers(env)
    return env, container, text


def typed(env, container, command, outcome=OUTCOME):
    """Type a command into the task's terminal; return the contents of `outcome`."""
    one_step(env, [type_text(command + "\n")])
    wait_until(lambda: shell(container, f"test -e {outcome}", PLAYER)[0] == 0, 30, outcome)
    return shell(container, f"cat {outcome}", PLAYER)[1]


@pytest.mark.fault("F46", "an agent with a shell against its judge")
def test_every_attack_from_the_terminal_is_refused_and_the_reward_stays_right(terminal, measure):
    env, container, text = terminal
    shell(container, f"cat > /tmp/attack.py <<'END'\n{ATTACK}\nEND", PLAYER)
    outcome = json.loads(typed(env, container, f"python3 /tmp/attack.py {OUTCOME}"))
    measure("attacks", len(outcome), at_least=50)
    measure("not refused", sorted(name for name, what in outcome.items() if what != "refused"), equals=[])
    step = one_step(env)
    assert step.reward == 0 and not step.done and step.info["error"] is None
    name, folder = re.search(r"file (\S+) into the folder (\S+)\.", text).groups()
    reward, info = result(env, type_text(f"mv {name} {folder}\n"))
    assert (reward, info["remote.reason"]) == (1.0, "solved")
    container.reload()
    assert container.status == "running"


@pytest.mark.fault("F46", "an agent with a shell against its judge")
def test_nothing_of_a_players_program_is_left_for_the_next_episode(terminal, measure):
    """Neither a process that has left its session and its environment remains, nor a file that is hard to delete."""
    env, container, text = terminal
    files = "mkdir -p /tmp/left/a; touch /dev/shm/left; chmod 0 /tmp/left"
    typed(env, container, f"setsid env -i sleep 1000 & {files}; touch {OUTCOME}")
    name, folder = re.search(r"file (\S+) into the folder (\S+)\.", text).groups()
    reward, _ = result(env, type_text(f"mv {name} {folder}\n"))
    assert reward == 1
    until(env, lambda step: step.observation is not None)
    left = shell(
        container, "pgrep_() { grep -l '^sleep' /proc/[0-9]*/comm; }; pgrep_; ls -d /tmp/left /dev/shm/left"
    )[1]
    measure(
        "processes and files left",
        "sleep" in left or "\n/tmp/left" in left or "\n/dev/shm/left" in left,
        equals=False,
    )


@pytest.mark.fault("F46", "an agent with a shell against its judge")
def test_files_that_fool_a_reader_do_not_end_the_judge(terminal):
    """The task's files are endless, locked or circular links."""
    env, container, text = terminal
    name, folder = re.search(r"file (\S+) into the folder (\S+)\.", text).groups()
    typed(
        env,
        container,
        f"truncate -s 400G huge; ln -s . loop; mkfifo pipe; ln -s /dev/zero {folder}/zero; mkdir -m 0 locked; "
        f"ln -s /proc/self/mem mem; touch {OUTCOME}",
    )
    reward, info = result(env, type_text(f"mv {name} {folder}\n"))
    assert (reward, info["remote.reason"]) == (1.0, "solved")
