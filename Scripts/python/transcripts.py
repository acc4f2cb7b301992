#!/usr/bin/env python3
"""Repeats the transcripts on a page and compares what is printed.

    Scripts/python/transcripts.py PAGE FOLDER [--write]

Runs the commands behind "$ " in the page's blocks ```console, from the top down, in one new directory that has links to
the folder's files, with the caches of all apps in it as well. Times, dates, sizes and rates may differ, and the spaces
that align them; the order of lines may not. The command typed-cache is that of the PATH. With --write, the page gets
the output that there was.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CHANGING = [
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "TIME"),
    (re.compile(r"[\d,.]+ ([KMG]i)?B\b"), "SIZE"),
    (re.compile(r"in [\d.]+ s( \([\d,]+/s\))?"), "in TIME"),
    (re.compile(r"\b\d+ bytes\b"), "SIZE"),
    (re.compile(r" +"), " "),
]


def fixed(text):
    """The text without what differs from run to run."""
    for pattern, name in CHANGING:
        text = pattern.sub(name, text)
    return text.strip()


def main():
    page, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    text = page.read_text()
    faults = 0
    count = 0
    with tempfile.TemporaryDirectory() as name:
        for file in folder.iterdir():
            os.symlink(file, pathlib.Path(name) / file.name)
        environment = {key: os.environ[key] for key in ("PATH", "LD_LIBRARY_PATH") if key in os.environ}
        environment |= {"XDG_CACHE_HOME": f"{name}/cache", "HOME": name, "LC_ALL": "C.UTF-8", "TZ": "UTC"}

        def run(match):
            nonlocal faults, count
            block = ""
            for entry in re.split(r"^(?=\$ )", match.group(1), flags=re.MULTILINE):
                command, _, expected = entry.partition("\n")
                if not command.startswith("$ "):
                    block += entry
                    continue
                count += 1
                done = subprocess.run(
                    ["bash", "-c", command[2:]], cwd=name, env=environment, stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
                )
                printed = done.stdout.replace(name, "/home/ada")
                if fixed(printed) != fixed(expected) and "--write" not in sys.argv:
                    faults += 1
                    print(f"{command}\nprinted:\n{printed}\nand not:\n{expected}", file=sys.stderr)
                # The page has an empty line between commands.
                block += command + "\n" + printed + "\n"
            return "```console\n" + block.rstrip("\n") + "\n```"

        text = BLOCK.sub(run, text)
    if "--write" in sys.argv:
        page.write_text(text)
    else:
        print(f"{count} commands of {page} print what they should" if not faults else f"{faults} of {count} differ")
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
