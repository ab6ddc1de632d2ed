"""Old spellings, and names of OpenAI Universe, raise errors that name the replacement."""

import pytest

import universe_client
import wrappers
from universe_client import Config, ConfigError, GymEnv, GymVectorEnv, PointerEvent, VectorEnv, spaces
from universe_client.providers import DockerProvider, EmbeddedProvider, ProcessProvider
from universe_client.renamed import ARGUMENTS, ATTRIBUTES
from wrappers import Throttle, Vision

PROVIDERS = (DockerProvider, EmbeddedProvider, ProcessProvider)
CLASSES = (Config, GymEnv, GymVectorEnv, PointerEvent, *PROVIDERS, Throttle, VectorEnv)
PAGE = "docs/coming-from-universe.md"


def test_every_class_of_the_table_is_tested():
    assert {kind.__name__ for kind in CLASSES} == ARGUMENTS.keys()


@pytest.mark.parametrize(
    ("kind", "name", "hint"),
    [(kind, name, hint) for kind in CLASSES for name, hint in ARGUMENTS[kind.__name__].items()],
)
def test_an_old_argument_raises_an_error_that_names_the_new_one(kind, name, hint):
    with pytest.raises(ConfigError) as raised:
        kind(**{name: 1})
    assert str(raised.value) == f"{kind.__name__} has no argument {name}=: {hint}"


@pytest.mark.parametrize("name", ATTRIBUTES["VectorEnv"])
def test_a_method_of_universe_raises_an_error_that_points_to_its_page(open_env, scripted, name):
    with Vision(open_env(scripted())) as env, pytest.raises(AttributeError, match=PAGE):
        getattr(env, name)


@pytest.mark.parametrize("module", [universe_client, spaces, wrappers], ids=lambda module: module.__name__)
def test_a_module_of_universe_raises_an_error_that_points_to_its_page(module):
    for name in ATTRIBUTES[module.__name__].keys() - vars(module).keys():
        with pytest.raises(AttributeError, match=PAGE):
            getattr(module, name)


def test_a_name_that_never_existed_raises_a_plain_error(open_env, scripted):
    with open_env(scripted()) as env:
        for owner in (env, universe_client, spaces, wrappers):
            with pytest.raises(AttributeError, match=r"has no attribute 'nonsense'$"):
                owner.nonsense  # noqa: B018


def test_the_old_name_of_the_environment_observation_is_refused():
    with pytest.raises(ConfigError, match="'env_observation'"):
        GymVectorEnv("gym-core.CartPole-v1", observation="state")
