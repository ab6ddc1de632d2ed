"""Names that are no longer or not used here: each raises an error that names the replacement.

They are spellings of the version before this one, listed for one release, and names of OpenAI Universe.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar

from universe_client.errors import ConfigError

_Class = TypeVar("_Class", bound=type)


def _universe(**hints: str) -> dict[str, str]:
    """Return the hints for names of OpenAI Universe, with a reference to the page about them."""
    return {name: f"{hint} (see docs/coming-from-universe.md)" for name, hint in hints.items()}


_CONFIGURE = _universe(
    allocate_sync="remotes always start in the background",
    api_key="no service needs a key",
    client_id="no service needs a client id",
    disable_action_probes="no key is pressed to measure lag",
    docker_image='use remotes="docker:N@IMAGE"',
    ignore_clock_skew="the clock skew costs no start-up time",
    record="use `universe-client record`",
    replace_on_crash="a lost remote is always replaced or reconnected",
    rewarder_driver="there is one rewarder client",
    sample_env_ids="use wrappers.RandomEnv",
    skip_metadata="no metadata is drawn on the screen",
    vnc_driver='use driver="native" or driver="portable"',
    vnc_kwargs="use encoding= and quality=",
)
_CONFIG = {"call": "use allowed_calls=", "generic": "use env_observation=", **_CONFIGURE}
_GYM = {"screen": "use screen_size=", **_CONFIG}
_PROVIDER = {"arguments": "use serving=Serving(...), whose fields are the options of `universe-client serve`"}

ARGUMENTS: dict[str, Mapping[str, str]] = {
    "Config": _CONFIG,
    "DockerProvider": _PROVIDER,
    "EmbeddedProvider": _PROVIDER,
    "GymEnv": _GYM,
    "GymVectorEnv": _GYM,
    "PointerEvent": _universe(buttonmask="use button_mask="),
    "ProcessProvider": {"geometry": "use screen_size=", **_PROVIDER},
    "Throttle": {"fps": "use step_rate="},
    "VectorEnv": _CONFIG,
}
"""What to use instead of an argument, by the name of the class and of the argument."""

ATTRIBUTES: dict[str, Mapping[str, str]] = {
    "VectorEnv": _universe(
        configure="pass the options to universe_client.make()",
        monitor="use `universe-client record`",
        remote_manager="use provider",
        render="run `universe-client view ADDRESS`, or connect a VNC viewer",
        seed="use reset(seed=...)",
    ),
    "universe_client": _universe(
        configure_logging="use the standard module logging",
        envs="use universe_client.make()",
        pyprofile='use info["n"][i] or wrappers.Logger',
        remotes="use universe_client.providers",
        rewarder="use the package rewarder",
        runtimes="use the package rewarder.runtimes",
        vncdriver="use the package vnc",
        wrappers="use the package wrappers: from wrappers import Throttle",
    ),
    "universe_client.spaces": _universe(
        Hardcoded="use wrappers.KeyState, or KeySets for Gymnasium's environments",
        JoystickActionSpace="this client sends keyboard and pointer events only",
        PeekReward="use recv(mask=...), which leaves unselected remotes alone",
        VNCActionSpace="use EventSpace",
        VNCObservationSpace="use ObservationSpace",
    ),
    "wrappers": _universe(
        CropObservations="use Crop around GymVectorEnv",
        GymCoreSync='use mode="lockstep"',
        Monitor="use `universe-client record`, or gymnasium.wrappers.RecordVideo",
        Recording="use `universe-client record`",
        Render="run `universe-client view ADDRESS`, or connect a VNC viewer",
        SafeActionSpace="use KeyState, or an action map of universe_client.spaces",
        Timer="use Logger",
        experimental="import from wrappers: RandomEnv, SoftmaxClickMouse",
    ),
}
"""What to use instead of an attribute, by the name of the class or module and of the attribute."""

OPTIONS: dict[str, Mapping[str, str]] = {
    "run": {"--fps": "--step-rate"},
    "serve": {"--call": "--allow-call", "--observation": "--env-observation", "--xvnc": "--screen-size"},
}
"""The new name of each renamed command-line option, by subcommand and old name."""


def refuse_old_names(cls: _Class) -> _Class:
    """Make a class raise errors for the names that `ARGUMENTS` and `ATTRIBUTES` list for it.

    Its constructor raises ConfigError, a missing attribute AttributeError. The signature that `help()` shows does not
    change.
    """
    hints = ARGUMENTS[cls.__name__]
    init = cls.__init__  # type: ignore[misc]  # the class is a variable, not `self`

    @functools.wraps(init)
    def checked(self: object, *args: Any, **kwargs: Any) -> None:
        if kwargs:  # events are made in every step, mostly without names
            for name in hints.keys() & kwargs.keys():
                raise ConfigError(f"{cls.__name__} has no argument {name}=: {hints[name]}")
        init(self, *args, **kwargs)

    cls.__init__ = checked  # type: ignore[misc]
    if cls.__name__ in ATTRIBUTES:
        cls.__getattr__ = lambda self, name: missing(cls.__name__, name)  # type: ignore[attr-defined]
    return cls


def missing(owner: str, name: str) -> NoReturn:
    """Raise AttributeError for attribute `name` of the class or module `owner`, with a hint if `ATTRIBUTES` has one."""
    hint = ATTRIBUTES[owner].get(name)
    raise AttributeError(f"{owner} has no attribute {name!r}" + (f": {hint}" if hint else ""), name=name)
