"""The results of an environment's episodes, as they are sent to clients over either channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import Describe, EnvObservation, Message, ReplyStep, Reward, Text
from rewarder.protocol.sessions import checked_reward
from rewarder.sdk.environment import Tick


class Results(Protocol):
    """Where results go: `rewarder.server.server.RewarderServer`, or a `Collected`."""

    def describe(self, episode_id: EpisodeId, state: Describe) -> None:
        """Report the state of an episode."""
        ...

    def reward(
        self, episode_id: EpisodeId, reward: float, done: bool, info: dict[str, Any] | None = None
    ) -> None:
        """Report a reward."""
        ...

    def text(self, episode_id: EpisodeId, text: object) -> None:
        """Report a text."""
        ...

    def env_observation(self, episode_id: EpisodeId, observation: object) -> None:
        """Report an environment observation."""
        ...


class Collected:
    """The results of one step, for the reply on a step channel.

    Attributes:
        messages: in order, each with its episode.
    """

    def __init__(self) -> None:
        self.messages: list[tuple[EpisodeId, Message]] = []

    def describe(self, episode_id: EpisodeId, state: Describe) -> None:
        """See `Results.describe`."""
        self.messages.append((episode_id, state))

    def reward(
        self, episode_id: EpisodeId, reward: float, done: bool, info: dict[str, Any] | None = None
    ) -> None:
        """See `Results.reward`.

        Raises:
            ValueError: `reward` is not a finite number.
        """
        self.messages.append((episode_id, checked_reward(reward, done, info)))

    def text(self, episode_id: EpisodeId, text: object) -> None:
        """See `Results.text`."""
        self.messages.append((episode_id, Text(text)))

    def env_observation(self, episode_id: EpisodeId, observation: object) -> None:
        """See `Results.env_observation`."""
        self.messages.append((episode_id, EnvObservation(observation)))

    def reply(self, is_drawn: bool) -> ReplyStep | None:
        """Return the reply to a step; None if only its `messages` can contain these results."""
        reward: float | None = None
        info: dict[str, Any] | None = None
        observation: object = None
        for _, message in self.messages:
            if isinstance(message, Reward) and not message.done:
                reward, info = message.reward, message.info or None
            elif isinstance(message, EnvObservation):
                observation = message.observation
            else:
                return None
        return ReplyStep(reward=reward, info=info, observation=observation, is_drawn=is_drawn)


def publish(results: Results, episode_id: EpisodeId, ticks: Sequence[Tick]) -> bool:
    """Report consecutive ticks of an episode as one; return whether the last one ended it."""
    info: dict[str, Any] = {}
    observation = None
    reward = 0.0
    for tick in ticks:
        reward += float(tick.reward)  # not `sum`, which rounds differently from a client that adds ticks
        if tick.text is not None:
            results.text(episode_id, tick.text)
        if tick.env_observation is not None:
            observation = tick.env_observation
        info |= tick.info
    if observation is not None:
        results.env_observation(episode_id, observation)
    if tick.done and tick.truncated:
        info["truncated"] = True
    if reward or tick.done or info:
        results.reward(episode_id, reward, tick.done, info)
    return tick.done
