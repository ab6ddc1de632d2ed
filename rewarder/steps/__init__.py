"""The step channel: lock-step between two processes of one host, without WebSocket, VNC or an event loop."""
