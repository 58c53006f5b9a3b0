"""The version of antecede. The build reads it from here, so no start looks for it elsewhere."""

from __future__ import annotations

VERSION = "0.1.0"
