#!/usr/bin/env python3
"""Prints how long plistlib takes to read and to write a property list: the median of nine, in milliseconds each.

usage: plist_times.py FILE
"""

import plistlib
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path


def median(work: Callable[[], object]) -> float:
    samples = []
    for _ in range(9):
        start = time.perf_counter()
        work()
        samples.append((time.perf_counter() - start) * 1_000)
    return statistics.median(samples)


def main(path: str) -> None:
    data = Path(path).read_bytes()
    form = plistlib.FMT_BINARY if data.startswith(b"bplist") else plistlib.FMT_XML
    value = plistlib.loads(data)
    print(median(lambda: plistlib.loads(data)))
    print(median(lambda: plistlib.dumps(value, fmt=form, sort_keys=False)))


if __name__ == "__main__":
    main(*sys.argv[1:])
