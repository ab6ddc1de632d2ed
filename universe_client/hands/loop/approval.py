"""Who permits what a model wants to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from universe_client.hands.loop.turn import Act, visible

_HARMLESS = frozenset(("screenshot", "zoom", "cursor_position", "wait", "mouse_move", "move"))


class Approval:
    """Asks a person before each act, until they permit everything."""

    def __init__(self, ask: Callable[[str], str]) -> None:
        """Ask with `ask`, which takes a question and returns the answer."""
        self._ask, self._everything = ask, False

    def confirm(self, name: str, arguments: Mapping[str, object]) -> bool:
        """Return whether an act may be played. Acts that only look, wait or move the pointer may."""
        if self._everything or name in _HARMLESS:
            return True
        answer = self._ask(f"allow {Act(name, arguments)} [y]es, [n]o, [a]ll from now on: ").strip().lower()
        self._everything = answer in ("a", "all")
        return self._everything or answer in ("y", "yes")

    def approve(self, checks: Iterable[object]) -> bool:
        """Return whether the vendor's safety checks are acknowledged. This is asked even if everything is permitted."""
        words = "; ".join(visible(str(getattr(check, "message", None) or check)) for check in checks)
        return self._ask(f"safety checks: {words}. Go on [y]es, [n]o: ").strip().lower() in ("y", "yes")


class Everything:
    """Permits every act, and acknowledges no safety check: there is nobody who could."""

    def confirm(self, name: str, arguments: Mapping[str, object]) -> bool:
        """Return True."""
        return True

    def approve(self, checks: Iterable[object]) -> bool:
        """Return False."""
        return False
