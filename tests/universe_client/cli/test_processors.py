"""What a process and its descendants use of the processors."""

from __future__ import annotations

import subprocess
import sys

from universe_client.cli.processors import cpu_seconds, processors

_CHILD = "import time\nwhile time.process_time() < 0.5: pass\nprint('ready', flush=True); input()"
_PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"


def test_the_time_of_living_descendants_counts():
    before = cpu_seconds()
    command = [sys.executable, "-c", _PARENT, _CHILD]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None and parent.stdout.readline() == "ready\n"
        after = cpu_seconds()
        parent.communicate("\n")
    assert before is not None and after is not None
    assert after - before >= 0.4
    assert processors() >= 1
