"""What an agent may do and see: events, action maps, and Gymnasium spaces for screens and text."""
