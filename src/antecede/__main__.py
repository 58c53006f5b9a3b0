"""`antecede` and `python -m antecede`: what comes before the imports of the command."""

from __future__ import annotations

import os
import sys

from antecede.checker import interrupts, streams


def main() -> int:
    """Run the command of this process and return its exit code."""
    interrupts.at_start()
    streams.replace(sys.argv[1:], os.environ)
    # The command imports much.
    from antecede import cli

    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
