"""The computer-use tools of the vendors of language models, played on a `Computer`.

`anthropic` and `openai` need the vendor's package (`pip install '.[anthropic]'`, `[openai]`). Nothing is
imported here, so that neither is needed for the other.
"""
