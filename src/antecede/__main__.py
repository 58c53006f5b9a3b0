"""`python -m antecede` is the command `antecede`."""

import sys

from antecede.cli import main

sys.exit(main())
