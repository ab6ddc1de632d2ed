"""`python -m universe_client`: the command line."""

import sys

from universe_client.cli.main import main

sys.exit(main())
