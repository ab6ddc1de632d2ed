"""Records a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rewarder.version import VERSION
from universe_client.recording.extra import require
from universe_client.vector_env import VectorEnv
from wrappers.universe.wrapper import Wrapper, sent_now, times

if TYPE_CHECKING:
    from universe_client.recording.recorder import Recorder


class Record(Wrapper):
    """Records every action, reward, text, episode, reset and error with exact times, and a video of each remote.

    The videos have every frame that arrives, also those between two steps. `universe-client export` makes datasets of
    recordings.

    Attributes:
        recorder: the `universe_client.recording.recorder.Recorder`.

    Example:
        with Record(universe_client.make("builtin.NeonDrive-v0", remotes=4), "runs/1") as env:
            env.reset()
            for _ in range(600):
                env.step([[]] * 4)
    """

    instead: ClassVar[str] = "gymnasium.wrappers.vector.RecordVideo"
    takes_lists: ClassVar[bool | None] = True

    def __init__(self, env: VectorEnv | Wrapper, directory: str | Path, *, video: bool = True) -> None:
        """Wrap `env`, and begin a recording.

        Args:
            env: a `VectorEnv`, with or without wrappers.
            directory: a new or empty folder.
            video: whether to record pixels.

        Raises:
            ConfigError: the folder has files in it, or cannot be written to; or the extra `record` is not installed.
        """
        super().__init__(env)
        require()
        from universe_client.recording.recorder import Recorder

        about = {"env_id": env.unwrapped.env_id, "version": VERSION}
        lockstep = env.unwrapped.core.config.mode == "lockstep"
        self.recorder: Recorder = Recorder(directory, env.n, video=video, lockstep=lockstep, about=about)
        if not lockstep:
            self.recorder.watch(env.unwrapped.core)

    def reset(self, **options: Any) -> Any:
        """Reset the remotes; see `VectorEnv.reset`."""
        self.recorder.reset(options)
        return self.env.reset(**options)

    def send(self, action_n: Sequence[Any], at: float | Sequence[float | None] | None = None) -> None:
        """Send one list of events to each remote, and record them; see `VectorEnv.send`.

        Events with times are recorded by the `recv` after they have been played, with the times at which they were.
        """
        self.env.send(action_n, **times(at))
        for index, events in sent_now(action_n, at):
            self.recorder.act(index, events)

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Return the results unchanged, and record them; see `VectorEnv.recv`."""
        result = self.env.recv(mask)
        observation_n, reward_n, _, info = result
        for index in range(self.n):
            if mask is None or mask[index]:
                self.recorder.receive(index, observation_n[index], reward_n[index], info["n"][index])
        return result

    def close(self) -> None:
        """Close the environment, and finish the recording."""
        self.env.close()
        self.recorder.close()
