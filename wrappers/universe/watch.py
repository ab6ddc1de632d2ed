"""Shows all remotes on a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from universe_client.vector_env import VectorEnv
from universe_client.wall.person import releases
from wrappers.universe.wrapper import Wrapper, sent_now, times

if TYPE_CHECKING:
    from universe_client.recording.recorder import Recorder
    from universe_client.wall.server import WallServer
    from universe_client.wall.tiles import Tile


class Watch(Wrapper):
    """Serves a page on this machine with a tile per remote: the frames that the agent gets, and how well it does.

    The keys that the agent holds and its pointer are drawn over the frames. A tile has the score and the curve of
    returns, frames per second, the reaction time, and why there is no picture. A click opens it large, with a histogram
    of reaction times, and the last two minutes to look back at. Pictures are made only while the page is open.

    Attributes:
        server: the `universe_client.wall.server.WallServer`.
        url: the address to open in a browser. It contains a token: whoever has it can watch.

    Example:
        env = Watch(universe_client.make("builtin.NeonDrive-v0", remotes=4))
        print("watch at", env.url)
    """

    instead: ClassVar[str] = "render()"
    takes_lists: ClassVar[bool | None] = True

    def __init__(self, env: VectorEnv | Wrapper, port: int = 0, *, act: bool = False) -> None:
        """Wrap `env`, and begin to serve the page.

        Args:
            env: a `VectorEnv`, with or without wrappers.
            port: to listen on, on 127.0.0.1; 0 is any free port.
            act: whether a person may act on the remote that is open on the page. Until the person stops, the agent's
                actions for that remote are not sent. A `Record` inside of this wrapper notes who acts.

        Raises:
            ConfigError: the port is not free.
        """
        super().__init__(env)
        from universe_client.wall.observing import WallPage

        core = env.unwrapped.core
        self._recorder: Recorder | None = getattr(env, "recorder", None)
        self._page = WallPage(core, port, act=act, lends=not core.config.copy)
        self.server: WallServer = self._page.server
        self._tiles: list[Tile] = self._page.tiles

    @property
    def url(self) -> str:
        """The address of the page."""
        return self.server.url

    def send(self, action_n: Sequence[Any], at: float | Sequence[float | None] | None = None) -> None:
        """Send one list of events to each remote; see `VectorEnv.send`. Events with times are shown when played."""
        sent = [self._acted(index, action) for index, action in enumerate(action_n)]
        at_n = list(at) if isinstance(at, Sequence) else [at] * len(sent)
        if at is not None:  # what a person does is for now
            at = [None if tile.person.acts else its for tile, its in zip(self._tiles, at_n, strict=True)]
        self.env.send(sent, **times(at))
        for index, events in sent_now(sent, at):
            self._page.act(index, events)

    def play(self, sequence_n: Sequence[Any]) -> None:
        """Plan actions for the remotes on which no person acts; see `VectorEnv.play`."""
        acts = [tile.person.acts for tile in self._tiles]
        self.env.play([None if person else its for person, its in zip(acts, sequence_n, strict=True)])

    def _acted(self, index: int, action: Any) -> Any:
        """Return the agent's action, or that of the person who acts in its place."""
        tile, person = self._tiles[index], self._tiles[index].person
        changed = person.has_changed()
        if changed and self._recorder is not None:
            self._recorder.actor(index, "person" if person.acts else "agent")
        released = releases(tile.held, tile.pointer) if changed else []
        if person.acts:
            self.unwrapped.remotes[index].link.gate.cancel()  # what the agent has planned
            return [*released, *person.events()]
        return [*released, *action] if released else action

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Return the results unchanged, and show them; see `VectorEnv.recv`."""
        result = self.env.recv(mask)
        observation_n, reward_n, _, info = result
        for index in range(self.n):
            if mask is None or mask[index]:
                self._page.receive(index, observation_n[index], reward_n[index], info["n"][index])
        return result

    def close(self) -> None:
        """Close the environment, and end the page."""
        self.env.close()
        self._page.close()
