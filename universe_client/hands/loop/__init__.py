"""A language model at work: it looks, it acts, and again, until the task or the budget ends.

`play` runs one episode with a `Chat`, of which there is one for each vendor. `Live` shows it on a terminal, and
`Transcript` keeps it as a web page with its pictures.
"""
