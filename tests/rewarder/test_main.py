"""`python -m rewarder` as a process: how it starts, prints its ports, and ends."""

import json
import os
import select
import signal
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from rewarder.runtimes import env_ids
from rewarder.sdk.priority import NICENESS
from tests.rewarder.remotes import wire

ROOT = Path(__file__).parents[2]
NEON = "builtin.NeonDrive-v0"
PARENT = """
import subprocess, sys
pipe = subprocess.PIPE if sys.argv[1] == "own" else None
child = subprocess.Popen([sys.executable, "-m", "rewarder", sys.argv[2]], stdin=pipe, stdout=subprocess.PIPE)
print(child.pid, flush=True)
print(child.stdout.readline().decode(), end="", flush=True)
child.wait()
"""


class Ports:
    def __init__(self, ready):
        self.vnc_port, self.rewarder_port = ready["vnc_port"], ready["rewarder_port"]


def request(env_id=NEON, **serving):
    return json.dumps({"env_id": env_id, "serving": serving})


def command(*arguments):
    return [sys.executable, "-m", "rewarder", *arguments]


def refused(*arguments, line=b""):
    """Run the command, which must refuse its request in one line; return that line."""
    result = subprocess.run(command(*arguments), cwd=ROOT, input=line, capture_output=True)
    assert result.returncode == 2
    assert result.stdout == b"", "nothing listened"
    (complaint,) = result.stderr.decode().splitlines()
    return complaint


@pytest.fixture
def start():
    """Starts the command with pipes; kills what is left of it."""
    processes = []

    def run(*arguments, line=None):
        process = subprocess.Popen(
            command(*arguments),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        processes.append(process)
        if line is not None:
            process.stdin.write(line + b"\n")
            process.stdin.flush()
        return process

    yield run
    for process in processes:
        process.kill()
        with process:
            pass


def ready(process):
    return json.loads(process.stdout.readline())


async def test_the_request_comes_from_stdin_and_the_ready_line_has_the_ports(start):
    process = start(line=json.dumps({"env_id": NEON, "password": "from stdin"}).encode())
    said = ready(process)
    assert set(said) == {
        "vnc_port",
        "rewarder_port",
        "mirror_port",
        "version",
        "viewer_token",
        "password_file",
    }
    async with wire(Ports(said), password="from stdin") as client:
        assert (await client.receive())["body"]["env_id"] == NEON


def test_a_remote_gives_way_to_the_process_that_starts_it(start):
    group = Path("/proc/self/autogroup")
    before = group.read_text() if group.exists() else ""
    process = start(request())
    ready(process)
    own = os.getpriority(os.PRIO_PROCESS, 0)
    if group.exists():
        assert group.read_text() == before, "the session of both keeps its share"
    assert os.getpriority(os.PRIO_PROCESS, process.pid) == min(own + NICENESS, 19)


def test_a_password_is_refused_on_the_command_line():
    for name in ("password", "view_only_password"):
        complaint = refused(json.dumps({"env_id": NEON, name: "sesame"}))
        assert "a password on the command line is visible" in complaint and "sesame" not in complaint


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}\n",
        b"[]\n",
        b'{"env_id": "builtin.NeonDrive-v0", "password": 1}\n',
        b'{"env_id": "builtin.NeonDrive-v0", "passwort": "x"}\n',
        b'{"env_id": "builtin.NeonDrive-v0", "serving": {"vnc_port": 70000}}\n',
        b'{"env_id": "builtin.NeonDrive-v0", "serving": {"fps": 0}}\n',
        b'{"env_id": "builtin.NeonDrive-v0", "serving": {"xvnc": "80x60"}}\n',
        b"x" * 90000,
    ],
)
def test_a_line_that_is_no_request_is_refused(line):
    refused(line=line)


def test_arguments_of_people_are_answered_with_the_command_for_people():
    result = subprocess.run(command("serve", NEON), cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 2 and "universe-client serve" in result.stderr


@pytest.mark.parametrize(
    ("env_id", "serving", "complaint"),
    [
        (NEON, {"host": "0.0.0.0", "private_network": True}, "this requires a password"),
        ("process.xlogo", {"host": "0.0.0.0", "private_network": True}, "this requires a password"),
        (NEON, {"tls_key": "server.key"}, "give both or none"),
        (NEON, {"tls_certificate": "/nowhere/a.pem", "tls_key": "/a.key"}, "certificate /nowhere/a.pem"),
    ],
)
def test_what_strangers_could_reach_or_hear_is_refused(env_id, serving, complaint):
    assert complaint in refused(request(env_id, **serving))


@pytest.mark.parametrize("env_id", [NEON, "process.xlogo"])
def test_other_machines_need_tls(env_id):
    line = json.dumps({"env_id": env_id, "password": "x", "serving": {"host": "0.0.0.0"}}).encode() + b"\n"
    assert "requires --tls-certificate and --tls-key" in refused(line=line)


@pytest.mark.parametrize("secure", [True, False])
def test_elsewhere_it_listens_with_tls_or_where_nobody_listens_in(start, identity, secure):
    files = {"tls_certificate": str(identity.certificate), "tls_key": str(identity.key)}
    serving = {"host": "0.0.0.0", **(files if secure else {"private_network": True})}
    process = start(line=json.dumps({"env_id": NEON, "password": "x", "serving": serving}).encode())
    said = ready(process)
    tables = Path("/proc/net/tcp").read_text()
    for port in (said["vnc_port"], said["rewarder_port"]):
        assert f"00000000:{port:04X}" in tables
    scheme = "https" if secure else "http"
    context = ssl.create_default_context(cafile=identity.certificate.parent / "authority.pem")
    url = f"{scheme}://127.0.0.1:{said['rewarder_port']}/healthz"
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
    )
    with opener.open(url, timeout=10) as answer:
        assert json.load(answer)["controllers"] == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_are_a_clean_end(start, number):
    process = start(request())
    ready(process)
    process.send_signal(number)
    assert process.wait(timeout=60) == 0
    assert b"Traceback" not in process.stderr.read()


def test_the_end_of_stdin_is_the_end(start):
    process = start(request())
    ready(process)
    process.stdin.close()
    assert process.wait(timeout=60) == 0


@pytest.mark.parametrize(
    "stdin", ["own", "inherited"]
)  # the inherited one stays open, so the signal must come from the kernel
def test_it_dies_with_its_parent_even_after_kill_9(stdin):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, stdin, request()],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with parent:
        handle = os.pidfd_open(int(parent.stdout.readline()))
        json.loads(parent.stdout.readline())
        parent.kill()
        parent.wait()
        ended, _, _ = select.select([handle], [], [], 60)
    os.close(handle)
    assert ended


def test_idle_is_a_clean_end(start):
    process = start(request(idle_timeout=0.2))
    ready(process)
    assert process.wait(timeout=60) == 0


def test_an_unknown_env_id_is_status_2_and_says_what_there_is():
    complaint = refused(request("nope"))
    assert "'nope'" in complaint and all(env_id in complaint for env_id in env_ids())


CATCH = "examples.minimal_remote:Catch"


async def test_a_runtime_of_somebody_elses_is_named_by_module_and_class(start):
    ports = Ports(ready(start(request("example.Catch-v0", runtime=CATCH))))
    async with wire(ports) as client:
        running = await client.until("v0.env.describe", env_state="running")
    assert running["body"]["env_id"] == "example.Catch-v0"


@pytest.mark.parametrize(
    ("runtime", "message"),
    [
        (CATCH, "plays example.Catch-v0, not 'nope'"),
        ("examples.minimal_remote", "is not the name of a class, such as my_module:MyRuntime"),
        ("examples.minimal_remote:Nobody", "is not the name of a class, such as my_module:MyRuntime"),
        ("nowhere:Catch", "No module named 'nowhere'"),
        ("collections:Counter", "collections:Counter is a Counter, not a rewarder.sdk.runtime.Runtime"),
    ],
)
def test_a_runtime_that_is_none_is_status_2_and_says_why(runtime, message):
    assert message in refused(request("nope", runtime=runtime))


def test_a_crash_is_status_1_with_a_traceback(start, tmp_path):
    script = tmp_path / "crash.py"
    script.write_text(
        "import sys\n"
        "import rewarder.runtimes.neon.drive as game\n"
        "from rewarder.__main__ import main\n"
        "def tick(self, events): raise LookupError('no road')\n"
        "game.NeonDrive.tick = tick\n"
        f"sys.exit(main(['{request()}']))\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, script], env=environment, cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert b"LookupError: no road" in process.stderr.read()
    assert process.returncode == 1


def test_the_game_imports_no_gymnasium():
    code = (
        "import sys, rewarder.runtimes as r; r.create('builtin.NeonDrive-v0').open();"
        "assert 'gymnasium' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
