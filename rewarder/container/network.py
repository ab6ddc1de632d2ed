"""Close the container's network: its two ports reply to clients, and no program can open a connection."""

from __future__ import annotations

import subprocess

PORTS = (5900, 15900)
"""The ports of the VNC server and of the rewarder."""
NFT = "nft"

# A packet filter sees every IP packet; SO_BINDTODEVICE and multicast bypass routes. The filter lets TCP segments of
# the two ports leave, except the first segment of a connection, and drops the rest, such as UDP and ICMP. It also
# drops requests to Docker's resolver, which is reached over the loopback interface and forwards them to the internet.
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
    """The rules cannot be set, so that the container must not start."""


def close_network() -> None:
    """Set the rules in this network namespace. This needs CAP_NET_ADMIN.

    Raises:
        NetworkOpen: the kernel has no nf_tables, or the container no CAP_NET_ADMIN.
    """
    rules = _RULES % ", ".join(map(str, PORTS))
    try:
        done = subprocess.run([NFT, "-f", "-"], input=rules, capture_output=True, text=True, check=False)
    except OSError as error:
        raise NetworkOpen(f"{NFT}: {error.strerror}") from error
    if done.returncode != 0:
        complaint = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[0]
        raise NetworkOpen(
            f"{NFT}: {complaint} (this needs CAP_NET_ADMIN, and nf_tables in the host's kernel)"
        )
