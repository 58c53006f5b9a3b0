"""Compiled kernels of the audit: logs of JSON objects become numbers, and the oracle judges them.

The rule, and the order in which events are taken, are those of `checker.audit.oracle`, the plain
version, which is the judge of this one. Read `arrays` first: it says what is where.
"""

from antecede.checker.audit.kernels.arrays import *
from antecede.checker.audit.kernels.clocks import *
from antecede.checker.audit.kernels.following import *
from antecede.checker.audit.kernels.judging import *
from antecede.checker.audit.kernels.names import *
from antecede.checker.audit.kernels.parsing import *
