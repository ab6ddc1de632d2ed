"""Old spellings of arguments raise errors that name the new ones."""

import pytest

from universe_client import Config, ConfigError, GymEnv, GymVectorEnv, VectorEnv
from universe_client.providers import ProcessProvider
from universe_client.renamed import ARGUMENTS
from wrappers import Throttle

CLASSES = (Config, GymEnv, GymVectorEnv, ProcessProvider, Throttle, VectorEnv)


def test_every_class_of_the_table_is_tested():
    assert {kind.__name__ for kind in CLASSES} == ARGUMENTS.keys()


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [(kind, old, new) for kind in CLASSES for old, new in ARGUMENTS[kind.__name__].items()],
)
def test_an_old_argument_raises_an_error_that_names_the_new_one(kind, old, new):
    with pytest.raises(ConfigError, match=rf"{old}= is now {new}="):
        kind(**{old: 1})


def test_the_old_name_of_the_environment_observation_is_refused():
    with pytest.raises(ConfigError, match="'env_observation'"):
        GymVectorEnv("gym-core.CartPole-v1", observation="state")
