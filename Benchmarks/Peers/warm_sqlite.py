#!/usr/bin/env python3
"""Puts each line of an NDJSON file under its key into an SQLite table.

usage: warm_sqlite.py RECORDS FOLDER KEY COMMIT

COMMIT is how many records a transaction has; 1 is autocommit. The journal is a write-ahead log that is synchronous
at checkpoints only (synchronous=normal).
"""

import json
import sqlite3
import sys
from pathlib import Path


def main(records: str, folder: str, key: str, commit: str) -> None:
    size = int(commit)
    database = sqlite3.connect(Path(folder) / "records.sqlite", isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute("CREATE TABLE records (key TEXT PRIMARY KEY, record TEXT NOT NULL)")
    count = 0
    with open(records, encoding="utf-8") as lines:
        for line in lines:
            if size > 1 and count % size == 0:
                database.execute("BEGIN")
            name = str(json.loads(line)[key])
            database.execute("INSERT OR REPLACE INTO records VALUES (?, ?)", (name, line))
            count += 1
            if size > 1 and count % size == 0:
                database.execute("COMMIT")
    if database.in_transaction:
        database.execute("COMMIT")
    database.close()
    print(count)


if __name__ == "__main__":
    main(*sys.argv[1:])
