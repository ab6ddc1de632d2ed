"""Empty containers: a minimal Debian with Python, entered as a user who is not root and can write to /home only."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "universe-client" / "containers"
_USER = 1000
_CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
_TIMEOUT = 900.0  # for one command, on a loaded machine
_ENTER = """
root=$1 home=$2; shift 2
mount --bind "$home" "$root/home"
mount --bind /etc/resolv.conf "$root/etc/resolv.conf"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
while [ "$1" != -- ]; do
    mkdir -p "$root$2"; mount --bind "$1" "$root$2"; mount -o remount,bind,ro "$root$2"; shift 2
done
shift
exec chroot --userspec=$USER_ID:$USER_ID "$root" env -i "$@"
"""


class CommandFailed(Exception):
    """A command in a container failed; the message has its output."""


def debian(suite: str, *packages: str) -> Path:
    """Return the directory of a minimal Debian with these packages; make it the first time."""
    root = CACHE / "-".join((suite, *packages))
    if not root.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=CACHE))
        unfinished.chmod(0o755)
        subprocess.run([ROOT / "docker" / "make-root", suite, unfinished, *packages], check=True)
        unfinished.rename(root)
    return root


@dataclass(frozen=True, slots=True)
class Container:
    """A container with an empty home directory; what it shares with this machine is its network."""

    root: Path
    home: Path
    mounts: Mapping[Path, str]
    """Directories of this machine, and where the container has them, read-only."""

    def run(self, *command: str) -> tuple[str, float]:
        """Return what a command prints to stdout, and the seconds it takes.

        Raises:
            CommandFailed: its exit status is not 0.
        """
        began = time.monotonic()
        process = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", *self._enter(), *command],
            env={**os.environ, "USER_ID": str(_USER)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
        )
        if process.returncode:
            raise CommandFailed(f"{' '.join(command)}: {process.stdout}{process.stderr}")
        return process.stdout, time.monotonic() - began

    def _enter(self) -> list[str]:
        mounts = [word for source, target in self.mounts.items() for word in (str(source), target)]
        libraries = f"LD_LIBRARY_PATH={':'.join(f'{target}/lib' for target in self.mounts.values())}"
        outside = ["sh", "-ec", _ENTER, "enter", str(self.root), str(self.home), *mounts, "--"]
        return [*outside, *_environment(), libraries]


def _environment() -> list[str]:
    """Return the variables of a container; pip finds this machine's index and its authorities."""
    variables = {"HOME": "/home", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PIP_CERT": _CERTIFICATES}
    variables |= {"SSL_CERT_FILE": _CERTIFICATES, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    inherited = ("PIP_INDEX_URL", "UV_INDEX_URL", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy")
    variables |= {name: os.environ[name] for name in inherited if name in os.environ}
    return [f"{name}={value}" for name, value in variables.items()]


@contextmanager
def container(root: Path, mounts: Mapping[Path, str]) -> Iterator[Container]:
    """Yield a container with an empty home, which is removed in the end."""
    home = Path(tempfile.mkdtemp(prefix="home-"))
    shutil.chown(home, _USER, _USER)
    try:
        yield Container(root, home, mounts)
    finally:
        shutil.rmtree(home)
