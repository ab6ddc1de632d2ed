"""Makes this Python resemble that of another system, $PRETEND_SYSTEM: what only Linux or Unix has is missing.

Modules of others choose by system when they are imported, so they are imported first.
"""

import asyncio.subprocess
import ctypes.util
import functools
import getpass  # noqa: F401
import importlib
import multiprocessing.context  # noqa: F401
import os
import select
import selectors
import signal
import socket
import subprocess
import sys
import sysconfig
import urllib.request  # noqa: F401
from types import ModuleType

LINUX = {
    os: "memfd_create MFD_CLOEXEC MFD_ALLOW_SEALING eventfd eventfd_read eventfd_write EFD_CLOEXEC EFD_NONBLOCK "
    "pidfd_open setresuid setresgid O_PATH sched_getaffinity sched_setaffinity",
    select: "epoll",
    signal: "pidfd_send_signal",
    socket: "SO_PEERCRED SOCK_NONBLOCK SOCK_CLOEXEC MSG_CMSG_CLOEXEC",
}
UNIX = {
    os: "fork forkpty setsid getsid geteuid getuid nice sysconf O_NONBLOCK set_blocking",
    select: "poll",
    signal: "SIGKILL SIGSTOP SIGCONT SIGCHLD pthread_sigmask",
    socket: "AF_UNIX MSG_DONTWAIT send_fds recv_fds SCM_RIGHTS CMSG_SPACE",
}
UNIX_MODULES = ("fcntl", "grp", "pwd", "resource", "termios")


def hide(names: dict[ModuleType, str]) -> None:
    for module, hidden in names.items():
        for name in hidden.split():
            if hasattr(module, name):
                delattr(module, name)


def no_signals(*_: object) -> None:
    raise NotImplementedError


def pretend(system: str) -> None:
    for module in (
        "cryptography.x509",
        "gymnasium",
        "msgspec",
        "numpy",
        "rich.console",
        "websockets.asyncio.client",
    ):
        importlib.import_module(module)
    importlib.import_module("websockets.asyncio.server")
    sysconfig.get_config_vars()
    selectors.DefaultSelector = selectors.SelectSelector
    hide(LINUX)
    if system == "win32":
        loop = asyncio.SelectorEventLoop
        loop.add_signal_handler = no_signals  # type: ignore[assignment]
        loop.subprocess_exec = no_signals  # type: ignore[assignment]
        socket.socketpair = functools.partial(socket.socketpair, socket.AF_UNIX)  # type: ignore[assignment]
        subprocess.CREATE_NEW_PROCESS_GROUP = 0  # type: ignore[attr-defined]
        hide(UNIX)
        sys.modules.update(dict.fromkeys(UNIX_MODULES))  # type: ignore[arg-type]
        ctypes.CDLL = None  # type: ignore[assignment, misc]
    sys.platform = system


if "PRETEND_SYSTEM" in os.environ:
    pretend(os.environ["PRETEND_SYSTEM"])
