"""How a Python function becomes machine code, and the cache of that code.

Such a function is a *kernel*. It reads and writes arrays of numbers, and calls only other kernels.
"""
