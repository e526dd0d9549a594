"""`python -m poise` is `poise`."""

import sys

from poise.cli import main

sys.exit(main())
