"""How a Python function becomes machine code, and the cache of that code.

Such a function is a *kernel*. It reads and writes arrays of numbers, and calls only other kernels.
This package knows nothing of states or searches.

**Why not `numba.njit(cache=True)`?** It was measured in its place. Numba optimises each kernel by
itself and once more in each caller, so the first compilation took 96 s of processor time in place
of 18 s. Loading its files imports Numba, which takes 0.4 s of each start, and a check needed 178 MB
in place of 111 MB. An edit of a kernel in another file was not noticed: the caller's old machine
code ran, with a wrong result.

**What is used of Numba.** The public interface compiles (`njit`), types (`types`), and adds the
functions `borrow` and `prefetch` (`numba.extending`). These names are private or undocumented, and
`compiler` alone uses them:

* `core.compiler`: `CompilerBase`, `DefaultPassBuilder`; `core.typed_passes.NativeLowering`;
  `core.compiler_machinery.register_pass`; `core.lowering.Lower` with `incref` and `decref`. They
  let a function be optimised only in its callers, and count no references to arrays.
* The library of machine code: `_optimize_final_module`, `_finalize_final_module`, `_final_module`,
  `_finalized`, `_codegen._tm`. They yield one object file without Numba's wrappers, so that a
  later start loads it without Numba. Such a file needs an entry and Numba's functions for memory,
  which `compiler` writes in LLVM's language.
* A dispatcher's `get_call_template`, so that constants do not multiply the versions of a kernel.
* `core.registry.cpu_target`, `core.compiler_lock`, `core.datamodel.models.ArrayModel`,
  `core.cgutils`, `np.arrayobj`, `np.numpy_support.from_dtype`: how arrays are laid out and read.
* `config._config_fname`, so that no settings are read in the current folder.

A new Numba may change any of them, so `pyproject.toml` has an upper bound. The slow test
`test_the_newest_numba_has_all_private_names` tries the newest release, and names what is missing.
"""
