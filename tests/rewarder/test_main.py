"""`python -m rewarder serve` as a process: how it starts, tells where it is, and ends."""

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
from tests.rewarder.remotes import wire

ROOT = Path(__file__).parents[2]
NEON = "builtin.NeonDrive-v0"
PARENT = """
import subprocess, sys
pipe = subprocess.PIPE if sys.argv[1] == "own" else None
child = subprocess.Popen([sys.executable, "-m", "rewarder", "serve", *sys.argv[2:]], stdin=pipe, stdout=subprocess.PIPE)
print(child.pid, flush=True)
print(child.stdout.readline().decode(), end="", flush=True)
child.wait()
"""


class Ports:
    def __init__(self, ready):
        self.vnc_port, self.rewarder_port = ready["vnc_port"], ready["rewarder_port"]


def command(*arguments):
    return [sys.executable, "-m", "rewarder", "serve", *map(str, arguments)]


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


async def test_the_password_comes_from_stdin_and_the_ready_line_says_where(start):
    process = start(NEON, "--password-stdin", line=b'{"password": "from stdin"}')
    said = ready(process)
    assert set(said) == {"vnc_port", "rewarder_port", "version", "password_file", "viewer_token"}
    async with wire(Ports(said), password="from stdin") as client:
        assert (await client.receive())["body"]["env_id"] == NEON


def test_without_an_option_the_password_is_random_and_in_a_private_file(start):
    process = start(NEON)
    said = ready(process)
    path = Path(said["password_file"])
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    password = path.read_text().strip()
    assert len(password) >= 20
    process.terminate()
    _, log = process.communicate(timeout=60)
    assert not path.exists()
    assert password.encode() not in log


@pytest.fixture
def password_file(tmp_path):
    path = tmp_path / "password"
    path.write_text("from a file\n")
    path.chmod(0o600)
    return path


async def test_a_password_file_is_read(start, password_file):
    async with wire(
        Ports(ready(start(NEON, "--password-file", password_file))), password="from a file"
    ) as client:
        await client.receive()


@pytest.mark.parametrize(
    ("mode", "text", "message"), [(0o644, "sesame\n", "mode 0644"), (0o600, "\n", "no password")]
)
def test_a_password_file_that_is_none_is_refused(tmp_path, mode, text, message):
    path = tmp_path / "password"
    path.write_text(text)
    path.chmod(mode)
    result = subprocess.run(command(NEON, "--password-file", path), cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 2
    assert message in result.stderr and "sesame" not in result.stderr


@pytest.mark.parametrize(
    "line", [b"", b"{}\n", b'{"password": ""}\n', b"[]\n", b'{"password": 1}\n', b"x" * 9000]
)
def test_what_is_no_password_line_is_refused_without_a_traceback(line):
    result = subprocess.run(command(NEON, "--password-stdin"), cwd=ROOT, input=line, capture_output=True)
    assert result.returncode == 2
    assert b"Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([NEON, "--host", "0.0.0.0"], "takes --tls-certificate and --tls-key"),
        (["process.xlogo", "--host", "0.0.0.0"], "takes --tls-certificate and --tls-key"),
        ([NEON, "--host", "0.0.0.0", "--no-password", "--private-network"], "that takes a password"),
        ([NEON, "--tls-key", "server.key"], "make sense together only"),
        ([NEON, "--tls-certificate", "/nowhere/a.pem", "--tls-key", "/a.key"], "certificate /nowhere/a.pem"),
    ],
)
def test_what_strangers_could_reach_or_hear_is_refused(arguments, complaint):
    result = subprocess.run(command(*arguments), cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 2
    assert complaint in result.stderr and "Traceback" not in result.stderr
    assert result.stdout == "", "nothing listened"


@pytest.mark.parametrize("secure", [True, False])
def test_elsewhere_it_listens_with_tls_or_where_nobody_listens_in(start, identity, secure):
    files = ("--tls-certificate", identity.certificate, "--tls-key", identity.key)
    process = start(NEON, "--host", "0.0.0.0", *(files if secure else ["--private-network"]))
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
    process = start(NEON, "--no-password")
    ready(process)
    process.send_signal(number)
    assert process.wait(timeout=60) == 0
    assert b"Traceback" not in process.stderr.read()


def test_the_end_of_stdin_is_the_end(start):
    process = start(NEON, "--no-password", "--exit-with-stdin")
    ready(process)
    process.stdin.close()
    assert process.wait(timeout=60) == 0


@pytest.mark.parametrize(
    "stdin", ["own", "inherited"]
)  # the inherited one stays open: the kernel has to tell
def test_it_dies_with_its_parent_even_after_kill_9(stdin):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, stdin, NEON, "--no-password", "--exit-with-stdin"],
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
    process = start(NEON, "--no-password", "--idle-timeout", 0.2)
    ready(process)
    assert process.wait(timeout=60) == 0


def test_an_unknown_env_id_is_status_2_and_says_what_there_is():
    result = subprocess.run(command("nope"), cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 2
    assert "'nope'" in result.stderr and all(env_id in result.stderr for env_id in env_ids())


CATCH = "examples.minimal_remote:Catch"


async def test_a_runtime_of_somebody_elses_is_named_by_module_and_class(start):
    ports = Ports(ready(start("example.Catch-v0", "--runtime", CATCH, "--no-password")))
    async with wire(ports) as client:
        running = await client.until("v0.env.describe", env_state="running")
    assert running["body"]["env_id"] == "example.Catch-v0"


@pytest.mark.parametrize(
    ("runtime", "message"),
    [
        (CATCH, "plays example.Catch-v0, not 'nope'"),
        ("examples.minimal_remote", "module:class is wanted"),
        ("examples.minimal_remote:Nobody", "module:class is wanted"),
        ("nowhere:Catch", "No module named 'nowhere'"),
        ("collections:Counter", "makes a Counter, not a Runtime"),
    ],
)
def test_a_runtime_that_is_none_is_status_2_and_says_why(runtime, message):
    result = subprocess.run(command("nope", "--runtime", runtime), cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 2
    assert message in result.stderr and "Traceback" not in result.stderr


def test_a_crash_is_status_1_with_a_traceback(start, tmp_path):
    script = tmp_path / "crash.py"
    script.write_text(
        "import sys\n"
        "import rewarder.runtimes.neon.drive as game\n"
        "from rewarder.__main__ import main\n"
        "def tick(self, events): raise LookupError('no road')\n"
        "game.NeonDrive.tick = tick\n"
        f"sys.exit(main(['serve', '{NEON}', '--no-password']))\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        [sys.executable, script], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert result.returncode == 1
    assert "LookupError: no road" in result.stderr


def test_the_game_imports_no_gymnasium():
    code = (
        "import sys, rewarder.runtimes as r; r.create('builtin.NeonDrive-v0').open();"
        "assert 'gymnasium' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


@pytest.mark.parametrize("arguments", [["--fps", "0"], ["--fps", "nan"], ["--rewarder-port", "70000"]])
def test_numbers_out_of_bounds_are_usage_errors(arguments):
    result = subprocess.run(command(NEON, *arguments), cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 2
    assert arguments[0] in result.stderr
