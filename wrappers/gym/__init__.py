"""Wrappers around `universe_client.GymVectorEnv`, the environment with Gymnasium's vector interface.

Docstrings cite these sources:

- Bellemare et al. 2013: "The Arcade Learning Environment: An Evaluation Platform for General Agents", JAIR 47.
- Mnih et al. 2015: "Human-level control through deep reinforcement learning", Nature 518.
- Machado et al. 2018: "Revisiting the Arcade Learning Environment: Evaluation Protocols and Open Problems for General
  Agents", JAIR 61.
"""
