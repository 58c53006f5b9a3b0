"""The commands of `antecede`, one module each: parse, call, report, exit code."""
