"""Compiled kernels are kept, and compiled anew where they cannot be used."""

from __future__ import annotations

import grp
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from antecede.checker.compiled import cache
from antecede.checker.support import private
from antecede.checker.support.private import changed_by_others, create, private_folder
from tests.conftest import ROOT
from tests.test_architecture import modules, our_arrows

STORE = """
import numpy as np
from antecede.checker.engine.rows import entries_kernels
table = np.full(16, -1, np.int64)
entries_kernels.store(table, np.array([5]), np.array([7]))
print(sorted(set(table.tolist())))
print("compiled" if entries_kernels.store.compiled else "kept")
"""
"""A small kernel, which is compiled in a second."""


def run(folder: Path) -> tuple[list[str], str]:
    """Use a kernel in another process; return its standard output and standard error."""
    done = subprocess.run(
        [sys.executable, "-c", STORE],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    table, how = done.stdout.splitlines()
    assert "[-1, 5, 7]" == table
    return how.split(), done.stderr


def truncated(file: Path) -> None:
    file.write_bytes(b"")


def changed(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


@pytest.mark.integration
@pytest.mark.parametrize("damage", [truncated, changed])
def test_a_damaged_kernel_is_compiled_anew_and_that_is_said(
    kept: Path, tmp_path: Path, damage: object
) -> None:
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    (file,) = tmp_path.rglob("entries_kernels.store-*.kernel")
    assert callable(damage)
    damage(file)

    how, said = run(tmp_path)

    assert ["compiled"] == how
    assert f"is compiled anew: {file} is damaged" in said
    assert (["kept"], "") == run(tmp_path)


@pytest.mark.integration
def test_a_pipe_in_place_of_a_kernel_is_replaced(kept: Path, tmp_path: Path) -> None:
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    (file,) = tmp_path.rglob("entries_kernels.store-*.kernel")
    file.unlink()
    os.mkfifo(file)

    how, said = run(tmp_path)

    assert ["compiled"] == how
    assert "is a named pipe; it must be a regular file" in said
    assert (["kept"], "") == run(tmp_path)


@pytest.mark.integration
def test_a_kernel_under_the_name_of_another_one_is_not_loaded(kept: Path, tmp_path: Path) -> None:
    """Both take the same arguments, so that only the name tells them apart."""
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    (file,) = tmp_path.rglob("entries_kernels.store-*.kernel")
    assert cache.opened(str(file)) is not None
    other = file.with_name(file.name.replace("entries_kernels.store", "entries_kernels.other"))
    assert cache.opened(str(file.rename(other))) is None
    folder = tmp_path / "kernels-of-other-sources"
    folder.mkdir()
    assert cache.opened(str(other.rename(folder / file.name))) is None


@pytest.mark.integration
def test_kernels_of_another_name_are_compiled_anew(kept: Path, tmp_path: Path) -> None:
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    (file,) = tmp_path.rglob("entries_kernels.store-*.kernel")
    file.write_bytes(cache.sealed(file.read_bytes()[16:], str(file.with_name("another.kernel"))))

    how, said = run(tmp_path)

    assert ["compiled"] == how
    assert f"{file} is damaged or another kernel's" in said


def test_a_pipe_in_place_of_the_lock_does_not_hang(kept: Path, tmp_path: Path) -> None:
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    file = of_kernels(tmp_path)
    file.unlink()
    file.with_name("compiling").unlink()
    os.mkfifo(file.with_name("compiling"))
    assert ["compiled"] == run(tmp_path)[0]


@pytest.mark.integration
def test_processes_that_need_a_kernel_at_once_compile_it_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(5) as threads:
        done = list(threads.map(run, [tmp_path] * 5))
    assert [["compiled"], *[["kept"]] * 4] == sorted(how for how, _ in done)


def test_where_no_folder_can_be_written_to_a_temporary_one_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing can be created in /proc, not even by root."""
    monkeypatch.setattr(cache, "_named", lambda: [Path("/proc/antecede")])
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv(cache.CHOSEN, "")  # restored after the test
    monkeypatch.setattr(cache, "made_for_command", [])
    cache.folder.cache_clear()
    made = cache.folder()
    cache.folder.cache_clear()
    assert made is not None
    assert made.is_relative_to(tmp_path)
    assert cache.is_temporary()
    assert "because /proc/antecede cannot be written to" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("members", "others", "reason"),
    [([], [], None), (["me"], [], None), (["other"], [], "write"), ([], ["other"], "write")],
    ids=["only its owner", "owner named", "another member", "somebody else's first group"],
)
def test_a_group_is_no_other_user_if_its_owner_is_alone_in_it(
    members: list[str],
    others: list[str],
    reason: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the umask 002 of Debian and Ubuntu, the user's own group can write to new folders."""
    users = {"me": SimpleNamespace(pw_uid=os.getuid(), pw_gid=os.getgid())}
    users |= {name: SimpleNamespace(pw_uid=12345, pw_gid=os.getgid()) for name in others}
    users.setdefault("other", SimpleNamespace(pw_uid=12345, pw_gid=12345))
    monkeypatch.setattr(grp, "getgrgid", lambda _gid: SimpleNamespace(gr_mem=members))
    monkeypatch.setattr(pwd, "getpwnam", users.__getitem__)
    monkeypatch.setattr(pwd, "getpwall", lambda: list(users.values()))
    private._is_alone.cache_clear()
    tmp_path.chmod(0o775)
    found = changed_by_others(tmp_path)
    private._is_alone.cache_clear()
    assert (reason is None) == (found is None)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a compiled kernel in it."""
    folder = tmp_path_factory.mktemp("kept")
    assert (["compiled"], "") == run(folder)
    return folder


@pytest.mark.integration
def test_a_kernel_is_compiled_once(kept: Path) -> None:
    assert (["kept"], "") == run(kept)


@pytest.mark.integration
def test_where_nothing_can_be_kept_kernels_work_and_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")

    how, said = run(tmp_path / "file")

    assert ["compiled"] == how
    assert 1 == len(said.splitlines())
    assert "is kept only until this command ends" in said
    assert "NUMBA_CACHE_DIR" in said


def open_to_all(folder: Path) -> None:
    folder.chmod(0o777)


def of_somebody_else(path: Path) -> None:
    os.chown(path, 12345, 12345)


needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")


def of_kernels(kept: Path) -> Path:
    (file,) = kept.rglob("entries_kernels.store-*.kernel")
    return file


@pytest.mark.integration
@pytest.mark.parametrize("change", [open_to_all, pytest.param(of_somebody_else, marks=needs_root)])
@pytest.mark.parametrize("part", [0, 1, 2], ids=["the folder", "in it", "with the kernels"])
def test_no_machine_code_runs_from_a_folder_that_others_can_change(
    kept: Path, tmp_path: Path, change: Callable[[Path], None], part: int
) -> None:
    shutil.copytree(kept, tmp_path / "shared")
    file = of_kernels(tmp_path)
    change((tmp_path / "shared", file.parent.parent, file.parent)[part])

    how, said = run(tmp_path / "shared")

    assert ["compiled"] == how
    assert part == 2 or "other user" in said


@pytest.mark.integration
@needs_root
def test_no_machine_code_runs_from_a_file_of_somebody_else(kept: Path, tmp_path: Path) -> None:
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    of_somebody_else(of_kernels(tmp_path))

    how, said = run(tmp_path)

    assert ["compiled"] == how
    assert "belongs to another user" in said


@pytest.mark.integration
def test_a_link_to_a_folder_that_others_can_change_is_not_followed(
    kept: Path, tmp_path: Path
) -> None:
    shutil.copytree(kept, tmp_path / "shared")
    (tmp_path / "shared" / "antecede").chmod(0o777)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "antecede").symlink_to(tmp_path / "shared" / "antecede")

    assert ["compiled"] == run(tmp_path / "own")[0]


def test_without_a_home_the_current_folder_is_no_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A repository that somebody cloned could bring kernels of its own."""
    monkeypatch.chdir(tmp_path)
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert [cache._CHECKER / "compiled" / "__pycache__"] == cache._named()
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert [cache._CHECKER / "compiled" / "__pycache__"] == cache._named()
    monkeypatch.setenv("NUMBA_CACHE_DIR", "relative")
    assert private_folder(cache._named()[0]) == (None, "relative/antecede is not an absolute path")
    assert [] == list(tmp_path.iterdir())


def test_a_folder_is_created_for_the_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folder, reason = private_folder(tmp_path / "new" / "antecede")
        assert not (tmp_path / "new").exists()
        create(tmp_path / "new" / "antecede")
    finally:
        os.umask(before)
    assert (tmp_path / "new" / "antecede", "") == (folder, reason)
    assert 0o40700 == (tmp_path / "new").stat().st_mode


def test_a_file_in_a_folder_with_the_sticky_bit_may_be_of_others(tmp_path: Path) -> None:
    """So only a folder of one's own below it is private."""
    (tmp_path / "sticky" / "own").mkdir(parents=True)
    (tmp_path / "sticky").chmod(0o1777)
    assert "other users can write" in (changed_by_others(tmp_path / "sticky") or "")
    assert changed_by_others(tmp_path / "sticky" / "own") is None


def test_an_edit_of_any_kernel_is_an_edit_of_all(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Kernels contain those that they call."""
    for room in ("compiled", "engine"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(cache._CHECKER / room, tmp_path / room, ignore=ignored)
    monkeypatch.setattr(cache, "_CHECKER", tmp_path)
    cache.digest.cache_clear()
    before = cache.digest()
    for file in sorted([*tmp_path.glob("compiled/*.py"), *tmp_path.glob("engine/*/*.py")]):
        text = file.read_text(encoding="utf-8")
        file.write_text(text + "# edited\n", encoding="utf-8")
        cache.digest.cache_clear()
        before, earlier = cache.digest(), before
        assert earlier != before or not DEFINES_A_KERNEL(text), file
    cache.digest.cache_clear()


DEFINES_A_KERNEL = re.compile(r"^(@(kernel|inlined)$|\w+ = kernel\()", re.MULTILINE).search


@pytest.mark.integration
def test_compiled_code_depends_on_no_source_that_its_digest_leaves_out() -> None:
    """Kernels take constants and types from the modules that they import."""
    files = {name: file for name, file in modules().items() if file.name != "__init__.py"}
    sources = {file.resolve() for file in cache.sources()}
    digested = {name for name, file in files.items() if file.resolve() in sources}
    arrows = our_arrows()
    for name, file in files.items():
        if name.startswith("engine.") and DEFINES_A_KERNEL(file.read_text(encoding="utf-8")):
            used = {other for other in arrows[name] & set(files) if other.startswith("engine.")}
            assert {name, *used} <= digested


def test_kernels_that_nobody_used_for_long_are_removed(tmp_path: Path) -> None:
    old, recent, own = (tmp_path / f"kernels-{name}" for name in ("old", "recent", "own"))
    for folder in (old, recent, own):
        folder.mkdir()
    os.utime(old, (0, 0))
    os.utime(own, (0, 0))

    cache._remove_old(tmp_path, own)

    assert {recent, own} == set(tmp_path.iterdir())


INTERRUPTED = """
import os, signal, threading
import numpy as np
from antecede.checker.support import interrupts
from antecede.checker.engine.rows import entries_kernels
with interrupts.handled():
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        entries_kernels.store(np.full(16, -1, np.int64), np.array([5]), np.array([7]))
    except KeyboardInterrupt as reason:
        print(reason, entries_kernels.store.compiled)
"""
"""Ctrl-C while the kernel is compiled."""


@pytest.mark.integration
def test_ctrl_c_waits_for_the_compiler_and_is_quiet(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ("interrupted by the user 1\n", "", 0) == (done.stdout, done.stderr, done.returncode)


AUDIT = """
import numpy as np
from antecede.checker.logs.readers import parsing_kernels
parsing_kernels.text_end(np.frombuffer(b'a"', np.uint8), 0)
"""


@pytest.mark.integration
def test_the_kernels_of_the_audit_are_kept_like_those_of_the_search(tmp_path: Path) -> None:
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", AUDIT], env=env, cwd=ROOT, timeout=300, check=True)
    (file,) = tmp_path.rglob("parsing_kernels.text_end-*.kernel")
    home = cache.home_of(str(ROOT / "src/antecede/checker/logs/readers/parsing_kernels.py"))
    assert f"kernels-{cache.digest(home)}" == file.parent.name
    assert cache.opened(str(file)) is not None
