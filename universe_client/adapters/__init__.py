"""Other libraries' faces; each module imports its library, and is imported by nobody but its user."""
