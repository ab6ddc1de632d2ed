"""`Computer`: one remote as people think of it, for agents that think between two acts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Self

from universe_client.errors import ConfigError, LocalStateError
from universe_client.hands.actions import Action
from universe_client.hands.acts import QUIET, TIMEOUT
from universe_client.hands.channel import Channel, Observer
from universe_client.hands.errors import InvalidAction, LostWhileActing
from universe_client.hands.motion import Motion
from universe_client.hands.outcome import Outcome, Stillness
from universe_client.hands.pictures import Format, Picture, cut
from universe_client.hands.playing import Pointer, beats, checked
from universe_client.hands.space import Space
from universe_client.hands.use import Use
from universe_client.providers.provider import Provider
from universe_client.vector_env import VectorEnv
from vnc.session import Frame


class Computer(Use):
    """One remote: look at it, act, and get the settled picture back.

    Between two calls nothing is needed: the newest frame stays in memory, and rewards are collected by the next call.
    Coordinates are pixels of the newest picture of the whole screen, from the top left corner; `size` is its size. A
    remote without a rewarder, which is any VNC server, has the reward 0.0, no text, and is not done before it is lost.

    One thread at a time may use a Computer. Only one Computer may drive a remote, and nobody else may step it.

    Example:
        with Computer.open("desktop.WriteNote-v0", "docker:1") as computer:
            print(computer.text)
            outcome = computer.click(400, 300)
            outcome.picture.save("after.jpg")
    """

    def __init__(
        self,
        env: VectorEnv,
        index: int = 0,
        *,
        max_size: tuple[int, int] | None = None,
        format: Format = "jpeg",
        quality: int = 80,
        observers: Sequence[Observer] = (),
    ) -> None:
        """Drive one remote of an environment, which the caller closes.

        If the environment has not been reset, the first call resets it.

        Args:
            env: an environment in real time.
            index: which remote.
            max_size: (width, height): pictures are scaled down to fit; None keeps the size of the screen.
            format: of pictures: "jpeg" or "png".
            quality: of JPEG, 1 to 100.
            observers: told of all resets, input and results, in the thread that brings them; such as a `Recorder`.

        Raises:
            ConfigError: an argument is invalid.
            LocalStateError: another Computer drives the remote.
        """
        if format not in ("jpeg", "png"):
            raise ConfigError(f"format={format!r} is neither 'jpeg' nor 'png'")
        if not 1 <= quality <= 100:
            raise ConfigError(f"quality={quality!r} is not within 1..100")
        if max_size is not None and min(max_size) < 1:
            raise ConfigError(f"max_size={max_size!r} is not (width, height) in pixels")
        self._limit, self._format, self._quality = max_size, format, quality
        super().__init__(Channel(env, index, observers))
        self._space: Space | None = None
        self._motion: Motion | None = None
        self._compared = -1  # the number of the newest frame that `_motion` has seen
        self._pointer: tuple[int, int] | None = None  # on the screen

    @classmethod
    def open(
        cls,
        env_id: str | None = None,
        remotes: int | str | Provider = 1,
        *,
        max_size: tuple[int, int] | None = None,
        format: Format = "jpeg",
        quality: int = 80,
        **options: Any,
    ) -> Self:
        """Start to connect to a remote, and return its computer, whose `close` also closes the connection.

        Args:
            env_id, remotes, options: see `universe_client.make`; the first remote is driven.
            max_size, format, quality: see `Computer`.

        Raises:
            ConfigError: an argument is invalid.
        """
        env = VectorEnv(env_id, remotes, **options)
        try:
            computer = cls(env, max_size=max_size, format=format, quality=quality)
            env.reset()
        except BaseException:
            env.close()
            raise
        computer._owned = env
        return computer

    # -- what there is -----------------------------------------------------------------------------------------------

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) of the space of coordinates: the newest picture of the whole screen."""
        with self._using():
            return self._spaced().size

    @property
    def screen_size(self) -> tuple[int, int]:
        """(width, height) of the remote's screen in pixels."""
        with self._using():
            return self._spaced().screen

    @property
    def text(self) -> str | None:
        """The task in words: the first text of the episode; None if there is none yet."""
        with self._using():
            return self._channel.instruction

    @property
    def reward(self) -> float:
        """The sum of the rewards of the episode so far."""
        with self._using():
            return self._channel.episode_reward

    @property
    def done(self) -> bool:
        """Whether the episode has ended."""
        with self._using():
            return self._channel.done

    def cursor(self) -> tuple[int, int]:
        """Return where the mouse pointer is, in pixels of the picture: the middle until it is moved."""
        with self._using():
            return self._cursor()

    def screenshot(
        self,
        scale: float | None = None,
        region: tuple[int, int, int, int] | None = None,
        format: Format | None = None,
    ) -> Picture:
        """Return the newest picture, at once.

        Args:
            scale: pixels of the picture per pixel of the screen; None: the largest up to 1 that fits into `max_size`.
                With another scale the whole screen's picture has another `size`, and so have the coordinates of later
                actions.
            region: (x, y, width, height) in pixels of the picture: only this part, in more detail if `size` is smaller
                than the screen. Coordinates of actions stay those of the whole picture.
            format: "jpeg" or "png"; None as the Computer was made.

        Raises:
            InvalidAction: the region or the scale is not possible.
            RemoteError: the remote cannot be reached.
        """
        with self._using():
            if region is None:
                screen = self._spaced().screen
                limited = scale is None
                self._space = (
                    Space.within(screen, self._limit) if limited else Space.scaled(screen, scale or 0.0)
                )
            return self._picture(format, region, scale)

    def wait_until_still(
        self,
        quiet: float = QUIET,
        timeout: float = TIMEOUT,
        ignore: Sequence[tuple[int, int, int, int]] = (),
    ) -> Stillness:
        """Wait until nothing has changed for `quiet` seconds.

        Args:
            quiet: seconds without a change.
            timeout: the longest wait, in seconds.
            ignore: regions (x, y, width, height) of the picture whose changes do not count.

        Raises:
            InvalidAction: a region is not inside the picture.
            RemoteError: the remote cannot be reached.
        """
        with self._using(), self._channel.listening():
            return self._settle(quiet, timeout, ignore)

    # -- acting ------------------------------------------------------------------------------------------------------

    def do(
        self,
        actions: Sequence[Action] | Action,
        *,
        settle: bool = True,
        picture: bool = True,
        quiet: float = QUIET,
        timeout: float = TIMEOUT,
    ) -> Outcome:
        """Play actions one after the other, wait until the screen is still, and return what has come of it.

        All actions are checked before the first is sent. If the episode ends, the rest is not played. Whatever happens,
        no key and no button stays down, except buttons of `ButtonDown` after a success.

        Args:
            actions: one action or several, of `universe_client.hands`.
            settle: wait until the screen is still; False returns at once.
            picture: whether the outcome has a picture.
            quiet, timeout: see `wait_until_still`.

        Raises:
            InvalidAction: an action cannot be played; nothing was sent.
            LostWhileActing: the remote was lost; it says how many actions were played.
            RemoteError: the remote cannot be reached.
            LocalStateError: the episode has ended: call `reset`; or another thread uses this Computer.
        """
        with self._using(), self._channel.listening():
            batch = checked(actions, self._spaced().to_screen, self._channel.buttons)
            if self._channel.done:
                reason = self._channel.end_reason
                raise LocalStateError(f"the episode has ended ({reason}): reset() begins the next")
            self._look(quiet)
            assert self._motion is not None
            self._motion.mark()
            played = self._play(batch)
            still = self._settle(quiet, timeout) if settle else Stillness(False, 0.0)
            return self._outcome(still, played, picture)

    def reset(
        self,
        *,
        seed: int | None = None,
        env_id: str | None = None,
        quiet: float = QUIET,
        timeout: float = TIMEOUT,
    ) -> Outcome:
        """Begin a new episode, and return when its first picture is still.

        Args:
            seed: of the episode; None leaves it to the remote.
            env_id: what the remote plays from now on; None changes nothing.
            quiet, timeout: see `wait_until_still`; the time until the first picture is not part of it.

        Raises:
            RemoteError: there is no picture within the option `reset_timeout`, or the remote refuses.
        """
        with self._using(starts=False), self._channel.listening():
            self._channel.reset(seed, env_id)
            self._motion = self._pointer = None
            self._channel.await_episode()
            still = self._settle(quiet, timeout)
            return self._outcome(still, 0, True)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._look()

    def _look(self, quiet: float = QUIET) -> Frame:
        """Bring everything up to date, and return the newest frame."""
        channel = self._channel
        channel.look()
        frame, number = channel.frame, channel.frame_number
        if self._motion is None or self._motion.shape != frame.shape:
            self._motion = Motion(frame, channel.frame_time)
        elif number != self._compared:
            self._motion.see(frame, channel.frame_time, quiet)
        self._compared = number
        return frame

    def _spaced(self) -> Space:
        height, width, _ = self._channel.frame.shape
        if self._space is None or self._space.screen != (width, height):
            self._space = Space.within((width, height), self._limit)
        return self._space

    def _cursor(self) -> tuple[int, int]:
        space = self._spaced()
        if self._pointer is None:
            return space.size[0] // 2, space.size[1] // 2
        return space.from_screen(*self._pointer)

    def _picture(
        self,
        format: Format | None = None,
        region: tuple[int, int, int, int] | None = None,
        scale: float | None = None,
    ) -> Picture:
        space = self._spaced()
        if format not in (None, "jpeg", "png"):
            raise InvalidAction(f"format={format!r} is neither 'jpeg' nor 'png'")
        array, shown, pixels = cut(self._channel.frame, space, self._limit, region, scale)
        return Picture(array, format or self._format, shown, pixels, self._quality)

    def _play(self, batch: Sequence[Action]) -> int:
        """Play the actions; return how many were played before the episode ended."""
        for played, action in enumerate(batch):
            if not self._play_one(action):
                if self._channel.failure is not None:
                    raise LostWhileActing.after(
                        self._channel.failure, self._channel.label, played, len(batch)
                    )
                return played
        return len(batch)

    def _play_one(self, action: Action) -> bool:
        for events, seconds in beats(action, self._mouse(), self._spaced().to_screen):
            if not self._channel.send(events) or not self._channel.pause(seconds):
                self._channel.look()
                return False
        _, pointer = self._channel.held
        self._pointer = self._pointer if pointer is None else (pointer.x, pointer.y)
        return True

    def _mouse(self) -> Pointer:
        _, pointer = self._channel.held
        if pointer is not None:
            return Pointer(pointer.x, pointer.y, pointer.button_mask)
        width, height = self._spaced().screen
        return Pointer(*(self._pointer or (width // 2, height // 2)), 0)

    def _settle(
        self, quiet: float, timeout: float, ignore: Sequence[tuple[int, int, int, int]] = ()
    ) -> Stillness:
        began = time.monotonic()
        arrived = began + self._channel.round_trip  # what the remote showed before is older than the act
        self._look(quiet)
        motion, space = self._motion, self._spaced()
        assert motion is not None
        motion.begin(began)
        ignored = motion.grid([space.rect(region) for region in ignore]) if ignore else None
        while True:
            now = time.monotonic()
            is_same = motion is self._motion
            rested = (max(arrived, motion.rest(now, quiet, ignored)) if is_same else now) + quiet
            if now >= rested or now >= began + timeout or self._channel.done:
                break
            if not is_same:  # the screen has another size
                assert self._motion is not None
                motion, ignored = self._motion, None
                motion.begin(began)
            self._channel.wait(min(rested, began + timeout))
            self._look(quiet)
        restless = tuple(self._spaced().region(rect) for rect in motion.restless)
        return Stillness(now >= rested, now - began, restless)

    def _outcome(self, still: Stillness, played: int, with_picture: bool) -> Outcome:
        assert self._motion is not None
        space, channel = self._spaced(), self._channel
        changed = self._motion.changed()
        reward, text = channel.collect()
        return Outcome(
            picture=self._picture() if with_picture else None,
            changed=None if changed is None else space.region(changed),
            pointer=self._cursor(),
            settled=still.settled,
            waited=still.seconds,
            restless=still.restless,
            reward=reward,
            episode_reward=channel.episode_reward,
            text=text,
            done=channel.done,
            played=played,
        )
