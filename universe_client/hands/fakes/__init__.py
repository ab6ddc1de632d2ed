"""The HTTP APIs of the vendors of language models, played by a script on this machine: no key, no network, no cost.

`FakeAnthropic` and `FakeOpenAI` speak what the vendors' own packages speak, and refuse what the vendors refuse. The
script is a `Model`: a function from what a model would see to what it would do.
"""

from universe_client.hands.fakes.anthropic import FakeAnthropic
from universe_client.hands.fakes.model import Model, Seen, Turn
from universe_client.hands.fakes.openai import FakeOpenAI

__all__ = ["FakeAnthropic", "FakeOpenAI", "Model", "Seen", "Turn"]
