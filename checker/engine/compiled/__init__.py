"""How a Python function becomes machine code, and the cache of that code.

Such a function is a *kernel*: it takes and returns arrays and numbers, and calls only other
kernels.
"""
