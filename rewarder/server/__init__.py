"""The port on which a remote serves its rewarder: WebSocket connections, health, and who may connect."""
