"""The folders with the code of all packages here, and the files in them."""

import os
import pathlib

FOLDERS = (
    "Sources", "Tests", "Benchmarks/Sources", "Benchmarks/Tests", "Fuzzing/Sources", "Examples/Sources",
    "Examples/Tests",
)


def files(folder, *suffixes):
    """The files with one of the suffixes, sorted; linked files and folders count only in their own place."""
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for path in sorted(pathlib.Path(parent, name) for name in names):
            if path.suffix in suffixes and not path.is_symlink():
                yield path
