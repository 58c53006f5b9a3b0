"""Compiled kernels of the audit: logs of JSON objects become numbers, and the oracle judges them.

The rule and the order of events are those in `checker.audit.oracle`, the plain version, which is
the reference. Read `arrays` first, because it describes the layout of all arrays.
"""

from antecede.checker.audit.kernels.arrays import *
from antecede.checker.audit.kernels.clocks import *
from antecede.checker.audit.kernels.following import *
from antecede.checker.audit.kernels.judging import *
from antecede.checker.audit.kernels.names import *
from antecede.checker.audit.kernels.parsing import *
