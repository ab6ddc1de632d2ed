"""The OpenEnv server of one env id, `UNIVERSE_CLIENT_ENV_ID`; each session starts a remote of its own."""

import os

from universe_client.adapters.openenv import app as make_app

_SCREENS = ("browser.", "desktop.", "process.")

env_id = os.environ.get("UNIVERSE_CLIENT_ENV_ID", "builtin.NeonDrive-v0")
remotes = os.environ.get("UNIVERSE_CLIENT_REMOTES") or (
    "process:1" if env_id.startswith(_SCREENS) else "embedded:1"
)
app = make_app(env_id, remotes, sessions=int(os.environ.get("UNIVERSE_CLIENT_SESSIONS", "4")))
