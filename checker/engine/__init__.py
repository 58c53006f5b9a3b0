"""The compiled engine: states as rows of numbers, which compiled code explores.

The packages, from the lowest to the highest:

* `storage`: arrays that grow in place, files of arrays, checkpoints;
* `rows`: a state as a row: components, composites, layout, symmetry;
* `visited`: the exact set of visited states;
* `successors`: from a row to its successors, with a memo of transitions;
* `tabulated`: breadth-first search on rows, and what a transport has to offer;
* `threads`: the transport on this machine, depth-first search and random walks;
* `spark`: the transport on a cluster.

A file whose name ends in `_kernels.py` is compiled. It may use only Python that Numba supports.

Question: How does a Python function become machine code, and when is it compiled again? The folder
`checker/compiled`.
"""
