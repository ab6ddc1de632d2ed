"""Which image plays an env id, and how much of the machine its containers may take."""

from __future__ import annotations

from dataclasses import dataclass

from rewarder.version import VERSION
from universe_client.errors import ConfigError

REPOSITORY = "universe-client"
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Image:
    """One of our images, named after its folder in `docker/`.

    Attributes:
        name: `gym-core`, say.
        plays: what the env ids begin with that it plays.
        memory: of one container, in bytes; swap is off.
        cpus: processors, or all of a smaller machine.
        processes: and threads, at most.
        shared_memory: the size of `/dev/shm` in bytes.
        namespaces: whether it makes user namespaces, as Chromium's sandbox does.
    """

    name: str
    plays: tuple[str, ...]
    memory: int = 512 * _MIB
    cpus: float = 1.0
    processes: int = 128
    shared_memory: int = 64 * _MIB
    namespaces: bool = False

    @property
    def reference(self) -> str:
        """Name and tag: the client's own version, so that both ends speak alike."""
        return f"{REPOSITORY}/{self.name}:{VERSION.replace('+', '-')}"


IMAGES = (
    Image("base", ("builtin.",)),
    Image("gym-core", ("gym-core.",)),
    Image(
        "browser",
        ("browser.",),
        memory=2048 * _MIB,
        cpus=2.0,
        processes=512,
        shared_memory=512 * _MIB,
        namespaces=True,
    ),
    Image("desktop", ("desktop.", "process."), memory=1024 * _MIB, cpus=2.0, processes=256),
)


def image_for(env_id: str) -> Image:
    """Return the image that plays `env_id`.

    Raises:
        ConfigError: none of ours does.
    """
    for image in IMAGES:
        if env_id.startswith(image.plays):
            return image
    known = ", ".join(f"{prefix}*" for image in IMAGES for prefix in image.plays)
    raise ConfigError(f"no image of ours plays {env_id!r}; there are {known}")


def image_named(name: str) -> Image:
    """Return the image of this name.

    Raises:
        ConfigError: there is none.
    """
    for image in IMAGES:
        if image.name == name:
            return image
    raise ConfigError(f"no image is named {name!r}; there are {', '.join(image.name for image in IMAGES)}")
