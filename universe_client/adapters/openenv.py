"""Any remote as an environment of OpenEnv: one WebSocket session, reset, step and state.

It needs the extra `openenv`. OpenEnv pins an older MCP SDK than the extra `mcp`, so the two do not fit into one virtual
environment.
"""

from __future__ import annotations

import base64
from typing import Any, ClassVar
from uuid import uuid4

from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server import Action, Environment, Observation, State, create_app
from openenv.core.env_server.types import EnvironmentMetadata
from pydantic import Field

from rewarder.version import VERSION
from universe_client.hands import Computer, InvalidAction, Outcome
from universe_client.hands.json_actions import Action as HandsAction
from universe_client.providers.provider import Provider


class ComputerAction(Action):
    """What to do in one step: several actions, of which an empty list only waits until the screen is still.

    Attributes:
        actions: objects such as `{"action": "click", "x": 5, "y": 7}`; see `universe_client.hands.json_actions`.
        quiet: seconds without a change that count as still.
        timeout: seconds to wait for that at most.
    """

    actions: list[HandsAction] = Field(default_factory=list, max_length=100)
    quiet: float = Field(default=0.1, ge=0.02, le=10)
    timeout: float = Field(default=5.0, gt=0, le=120)


class ComputerObservation(Observation):
    """What has come of a step. `reward` is the sum since the last step, `done` whether the episode has ended.

    Attributes:
        picture: the screen, base64 of `media_type`.
        media_type: "image/jpeg" or "image/png".
        width, height: of the picture, in whose pixels coordinates are.
        text: the task.
        pointer: x and y of the mouse pointer.
        settled: whether the screen is still.
        error: why the actions could not be played; None if they were.
    """

    picture: str
    media_type: str
    width: int
    height: int
    text: str | None = None
    pointer: list[int] = Field(default_factory=lambda: [0, 0])
    settled: bool = True
    error: str | None = None


class ComputerEnvironment(Environment[ComputerAction, ComputerObservation, State]):
    """One session: its remote starts with the first reset and ends with the session.

    Subclasses set the class attributes: OpenEnv makes environments without arguments. See `environment`.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    env_id: str | None = None
    remotes: int | str | Provider = 1
    options: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        super().__init__()
        self._computer: Computer | None = None
        self._state = State(episode_id=None, step_count=0)

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> ComputerObservation:
        """Begin an episode; wait for its first picture.

        Raises:
            UniverseError: the remote cannot be started or reached.
        """
        if self._computer is None:
            self._computer = Computer.open(self.env_id, remotes=self.remotes, **self.options)
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        return self._observation(self._computer.reset(seed=seed))

    def step(
        self, action: ComputerAction, timeout_s: float | None = None, **kwargs: Any
    ) -> ComputerObservation:
        """Play the actions, wait until the screen is still, and look.

        Actions that cannot be played, such as a click outside the screen, leave the remote as it is; the observation
        says why.

        Raises:
            RuntimeError: before the first reset.
            UniverseError: the remote was lost.
        """
        if self._computer is None:
            raise RuntimeError("reset the environment before the first step")
        self._state.step_count += 1
        timeout = action.timeout if timeout_s is None else min(action.timeout, timeout_s)
        try:
            batch = [each.parsed() for each in action.actions]
            outcome = self._computer.do(batch, quiet=action.quiet, timeout=timeout)
        except InvalidAction as error:
            return self._observation(self._computer.do([], settle=False), str(error))
        return self._observation(outcome)

    def _observation(self, outcome: Outcome, error: str | None = None) -> ComputerObservation:
        assert self._computer is not None and outcome.picture is not None
        picture = outcome.picture
        return ComputerObservation(
            done=outcome.done,
            reward=outcome.reward,
            picture=base64.b64encode(picture.data).decode(),
            media_type=picture.media_type,
            width=picture.width,
            height=picture.height,
            text=self._computer.text,
            pointer=list(outcome.pointer),
            settled=outcome.settled,
            error=error,
        )

    @property
    def state(self) -> State:
        """The id of the episode and the number of its steps."""
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        """Return the name and the version of the environment."""
        name = self.env_id or "computer"
        return EnvironmentMetadata(
            name=name, description=f"{name} as a computer: pictures, mouse and keys", version=VERSION
        )

    def close(self) -> None:
        """End the remote."""
        if self._computer is not None:
            self._computer.close()
            self._computer = None


class ComputerClient(EnvClient[ComputerAction, ComputerObservation, State]):
    """The client of a server that `app` has made.

    Example:
        with ComputerClient(base_url="http://127.0.0.1:8000").sync() as env:
            result = env.reset(seed=1)
            result = env.step(ComputerAction(actions=[{"action": "click", "x": 80, "y": 120}]))
    """

    def _step_payload(self, action: ComputerAction) -> dict[str, Any]:
        payload: dict[str, Any] = action.model_dump(exclude_none=True)
        return payload

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[ComputerObservation]:
        outer = {name: payload.get(name) for name in ("reward", "done")}
        observation = ComputerObservation(**payload["observation"], **outer)
        return StepResult(observation=observation, reward=observation.reward, done=observation.done)

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State(**payload)


def environment(
    env_id: str | None, remotes: int | str | Provider = 1, **options: Any
) -> type[ComputerEnvironment]:
    """Return the class of environments that play `env_id`; each instance has a remote of its own.

    Args:
        env_id, remotes: as for `VectorEnv`, for one remote.
        options: of `Computer.open`.
    """
    return type(
        "Computer", (ComputerEnvironment,), {"env_id": env_id, "remotes": remotes, "options": options}
    )


def app(env_id: str | None, remotes: int | str | Provider = 1, *, sessions: int = 1, **options: Any) -> Any:
    """Return the ASGI application of an OpenEnv server, for uvicorn.

    Args:
        env_id, remotes: as for `VectorEnv`, for one remote. Each session starts its own.
        sessions: the largest number of sessions at the same time.
        options: of `Computer.open`.
    """
    kind = environment(env_id, remotes, **options)
    return create_app(
        kind, ComputerAction, ComputerObservation, env_name=env_id, max_concurrent_envs=sessions
    )
