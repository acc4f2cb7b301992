#!/usr/bin/env python3
"""Writes each record of an NDJSON file into a JSON file of its own, named after its key: a draft, then renamed.

usage: warm_json_files.py RECORDS FOLDER KEY
"""

import json
import os
import sys
from pathlib import Path


def main(records: str, folder: str, key: str) -> None:
    draft = Path(folder) / ".draft"
    count = 0
    with open(records, encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            with open(draft, "w", encoding="utf-8") as file:
                json.dump(record, file, ensure_ascii=False)
            os.replace(draft, Path(folder) / f"{record[key]}.json")
            count += 1
    print(count)


if __name__ == "__main__":
    main(*sys.argv[1:])
