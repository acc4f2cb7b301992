#!/usr/bin/env python3
"""Puts each record of an NDJSON file under its key into a diskcache (python-diskcache, from PyPI).

usage: warm_diskcache.py RECORDS FOLDER KEY
"""

import json
import sys

from diskcache import Cache


def main(records: str, folder: str, key: str) -> None:
    count = 0
    with Cache(folder, eviction_policy="none") as cache, open(records, encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            cache[str(record[key])] = record
            count += 1
    print(count)


if __name__ == "__main__":
    main(*sys.argv[1:])
