"""What RLlib and TorchRL run on the nodes; workers import it by name."""

from __future__ import annotations

from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.tune import register_env

from universe_client import GymVectorEnv
from universe_client.adapters.rllib import env_creator

CARTPOLE = {
    "env_id": "gym-core.CartPole-v1",
    "actions": ["Left", "Right"],
    "observation": "env_observation",
    "mode": "lockstep",
}
MOST_OF_A_NODE = 3  # processors: two of these do not fit on one node


def ppo() -> PPOConfig:
    """PPO that learns CartPole with two env runners on two nodes."""
    register_env("universe", env_creator)
    return (
        PPOConfig()
        .environment("universe", env_config=CARTPOLE)
        .env_runners(
            num_env_runners=2,
            num_envs_per_env_runner=4,
            num_cpus_per_env_runner=MOST_OF_A_NODE,
            gym_env_vectorize_mode="vector_entry_point",
        )
        .learners(num_learners=0)
        .training(
            lr=1e-3,
            gamma=0.98,
            lambda_=0.95,
            train_batch_size_per_learner=2048,
            minibatch_size=256,
            num_epochs=8,
            vf_loss_coeff=0.5,
            vf_clip_param=1e4,
            grad_clip=0.5,
        )
        .rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[64], fcnet_activation="tanh"))
        .debugging(seed=1)
    )


def torchrl_env():
    """Return the environment of one collector of TorchRL: two remotes of CartPole."""
    from torchrl.envs import GymWrapper

    env = GymVectorEnv(**CARTPOLE, num_envs=2, autoreset_mode="Disabled")
    return GymWrapper(env, categorical_action_encoding=True)
