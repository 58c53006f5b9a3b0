"""Every compiled function: look up, expand, hash, probe, grow. Arrays in, arrays out.

Read `geometry` first, for the layout of all arrays. Then read `successors`, which `levels` and
`stepwise` call.
"""

from antecede.checker.tables.kernels.composites import *
from antecede.checker.tables.kernels.distinct import *
from antecede.checker.tables.kernels.entries import *
from antecede.checker.tables.kernels.fields import *
from antecede.checker.tables.kernels.flat import *
from antecede.checker.tables.kernels.geometry import *
from antecede.checker.tables.kernels.graphs import *
from antecede.checker.tables.kernels.hashing import *
from antecede.checker.tables.kernels.histories import *
from antecede.checker.tables.kernels.learning import *
from antecede.checker.tables.kernels.levels import *
from antecede.checker.tables.kernels.memo import *
from antecede.checker.tables.kernels.progress import *
from antecede.checker.tables.kernels.recall import *
from antecede.checker.tables.kernels.renaming import *
from antecede.checker.tables.kernels.rows import *
from antecede.checker.tables.kernels.sets import *
from antecede.checker.tables.kernels.stepwise import *
from antecede.checker.tables.kernels.successors import *
