"""Libraries in C that are loaded into a program with LD_PRELOAD."""

import os
import pathlib
import shutil
import subprocess


def compiled(source, library):
    """Compiles the library with the compiler of the Swift toolchain, unless it is newer than its source."""
    if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
        compiler = pathlib.Path(os.path.realpath(shutil.which("swiftc"))).parent / "clang"
        temporary = library.with_suffix(f".{os.getpid()}")
        subprocess.run(
            [compiler, "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", temporary, source], check=True)
        temporary.rename(library)
    return library
