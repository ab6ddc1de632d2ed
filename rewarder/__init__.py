"""The rewarder protocol: rewards, episodes and control as JSON over WebSocket, both ends of it."""
