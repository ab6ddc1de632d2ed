"""The agent's input to one remote: which episode it is for, what it holds down, and what is planned."""
