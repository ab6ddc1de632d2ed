"""No way out of the container's network: its two ports answer, nothing begins a connection."""

from __future__ import annotations

import subprocess

PORTS = (5900, 15900)
"""VNC and rewarder."""
NFT = "nft"

# Routes alone would not do: SO_BINDTODEVICE and multicast go around them. A packet filter sees every IP packet.
# What leaves over an interface is TCP from our two ports, and never the first segment of a connection. All else, such
# as UDP and ICMP, is dropped. Docker's own resolver, which asks the world, is reached over the loopback interface.
_RULES = """
table inet universe {
    chain output {
        type filter hook output priority 0; policy drop;
        ip daddr 127.0.0.11 drop
        oifname "lo" accept
        tcp sport { %s } tcp flags & (syn | ack) != syn accept
    }
}
"""


class NetworkOpen(Exception):
    """The rules cannot be set: the container must not start."""


def close_network() -> None:
    """Set the rules in this network namespace; needs CAP_NET_ADMIN.

    Raises:
        NetworkOpen: the kernel or the container's capabilities do not allow it.
    """
    rules = _RULES % ", ".join(map(str, PORTS))
    try:
        done = subprocess.run([NFT, "-f", "-"], input=rules, capture_output=True, text=True, check=False)
    except OSError as error:
        raise NetworkOpen(f"{NFT}: {error.strerror}") from error
    if done.returncode != 0:
        complaint = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[0]
        raise NetworkOpen(f"{NFT}: {complaint} (it needs CAP_NET_ADMIN, and nf_tables in the host's kernel)")
