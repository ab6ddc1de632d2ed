"""The images of this project: which environments they play, and the limits of their containers."""

from __future__ import annotations

from dataclasses import dataclass

from rewarder.version import VERSION
from universe_client.errors import ConfigError

REPOSITORY = "universe-client"
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Image:
    """An image of this project, and the limits of one container.

    Attributes:
        name: its folder in `docker/`, such as `gym-core`.
        plays: the prefixes of the env ids that it plays, such as `("gym-core.",)`.
        memory: bytes of memory; swap is off.
        cpus: processors; a machine with fewer gives all of them.
        processes: the largest number of processes and threads.
        shared_memory: bytes of `/dev/shm`.
        namespaces: whether programs may create user namespaces, as Chromium's sandbox does.
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
        """Name and tag. The tag is this package's version, so that both ends have the same."""
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
        ConfigError: no image does.
    """
    for image in IMAGES:
        if env_id.startswith(image.plays):
            return image
    known = ", ".join(f"{prefix}*" for image in IMAGES for prefix in image.plays)
    raise ConfigError(f"no image plays {env_id!r}; known are {known}")


def image_named(name: str) -> Image:
    """Return the image of this name.

    Raises:
        ConfigError: no image has this name.
    """
    for image in IMAGES:
        if image.name == name:
            return image
    raise ConfigError(f"no image is named {name!r}; known are {', '.join(image.name for image in IMAGES)}")
