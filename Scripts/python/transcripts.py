#!/usr/bin/env python3
"""Repeats the transcripts on a page and compares what is printed.

    Scripts/python/transcripts.py PAGE FOLDER [--write]

Runs the commands behind "$ " in the page's blocks ```console, from the top down, in one new directory that has links to
the folder's files, with the caches of all apps in it as well. Times, dates, sizes and rates may differ, and the spaces
that align them; the order of lines may not, nor may anything else but the numbers that `typed-cache top` shows. The
commands typed-cache and atlas are those of the PATH. With --write, the page gets the output that there was.

The one command of a block ```console WIDTHxHEIGHT is run in a terminal of that size, by tmux, and the screen compared
that it shows; then q is pressed. It is skipped where tmux is missing. Commands that still run at the end, or behind "&",
are ended. Blocks ```console redis are skipped where redis-server is missing, and blocks ```console encryption where
typed-cache was built without the trait Encryption. "export NAME=…" and "unset NAME" hold for
the commands after them, in all blocks.
"""

import contextlib
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BLOCK = re.compile(r"^```console(?: (\d+)x(\d+)| (redis|encryption))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VARIABLE = re.compile(r"(?:export (\w+)=.*|unset (\w+))")
# Tells whether the command can encrypt.
REFUSAL = "KEY=1:" + 64 * "0" + " typed-cache list --root . --cache none --key-env KEY"
CHANGING = [
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "TIME"),
    (re.compile(r"[\d,.]+ ([KMG]i)?B\b"), "SIZE"),
    (re.compile(r"in [\d.]+ s( \([\d,]+/s\))?"), "in TIME"),
    (re.compile(r"\b\d+ bytes\b"), "SIZE"),
    (re.compile(r" +"), " "),
]
# Of `typed-cache top`: numbers, and charts of them.
CHANGING_OF_TOP = [*CHANGING, (re.compile(r"[▁-█]+ ?"), ""), (re.compile(r"\b[\d.]+[kKMG]?\b"), "N")]


def fixed(text, command):
    """The text without the parts that differ from run to run."""
    for pattern, name in CHANGING_OF_TOP if "typed-cache top" in command else CHANGING:
        text = pattern.sub(name, text)
    return "\n".join(line.rstrip() for line in text.splitlines()).strip()


class Terminal:
    """A command in a terminal."""

    is_available = shutil.which("tmux") is not None

    def __init__(self, command, columns, rows, folder, environment):
        # A server of its own, whose socket goes with the folder.
        self.environment = environment | {"TMUX_TMPDIR": folder}
        script = f"cd {shlex.quote(folder)}; exec bash -c {shlex.quote(command)}"
        for name, value in environment.items():
            script = f"export {name}={shlex.quote(value)}; {script}"
        self.tmux("new-session", "-d", "-x", columns, "-y", rows, script)
        self.tmux("set-option", "-g", "status", "off")
        self.tmux("resize-window", "-x", columns, "-y", rows)

    def tmux(self, *words):
        done = subprocess.run(
            ["tmux", "-f", "/dev/null", "-u", *words], env=self.environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
        )
        return done.stdout

    def screen(self, is_wanted, seconds):
        """What it shows once that is wanted, or after so long."""
        end = time.monotonic() + seconds
        while True:
            text = "\n".join(line.rstrip() for line in self.tmux("capture-pane", "-p").rstrip("\n").splitlines()) + "\n"
            if is_wanted(text) or time.monotonic() > end:
                return text
            time.sleep(0.1)

    def close(self):
        self.tmux("send-keys", "q")
        self.tmux("kill-session")


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
        is_written = "--write" in sys.argv
        groups = []

        def output(command):
            # To a file, which commands in the background may keep open; in a session that can be ended with them.
            with tempfile.TemporaryFile() as file:
                process = subprocess.Popen(
                    ["bash", "-c", command], cwd=name, env=environment, stdin=subprocess.DEVNULL,
                    stdout=file, stderr=subprocess.STDOUT, start_new_session=True,
                )
                groups.append(process.pid)
                process.wait(timeout=120)
                file.seek(0)
                return file.read().decode()

        def screen(command, columns, rows, expected):
            terminal = Terminal(command, columns, rows, name, environment)
            try:
                if is_written:
                    return terminal.screen(lambda _: False, 6)
                wanted = fixed(expected, command)
                return terminal.screen(lambda text: fixed(text, command) == wanted, 30)
            finally:
                terminal.close()

        def run(match):
            nonlocal faults, count
            columns, rows, need, commands = match.groups()
            if columns and not Terminal.is_available:
                print("skipped: there is no tmux here", file=sys.stderr)
                return match.group(0)
            if need == "redis" and not shutil.which("redis-server"):
                print("skipped: there is no redis-server here", file=sys.stderr)
                return match.group(0)
            if need == "encryption" and "trait Encryption" in output(REFUSAL):
                print("skipped: this typed-cache was built without the trait Encryption", file=sys.stderr)
                return match.group(0)
            block = ""
            for entry in re.split(r"^(?=\$ )", commands, flags=re.MULTILINE):
                command, _, expected = entry.partition("\n")
                if not command.startswith("$ "):
                    block += entry
                    continue
                count += 1
                words = command[2:]
                if variable := VARIABLE.fullmatch(words):
                    if variable[1]:
                        environment[variable[1]] = output(f'{words}; printf %s "${variable[1]}"')
                    else:
                        environment.pop(variable[2], None)
                    block += entry
                    continue
                printed = screen(words, columns, rows, expected) if columns else output(words)
                printed = printed.replace(name, "/home/ada")
                if fixed(printed, words) != fixed(expected, words) and not is_written:
                    faults += 1
                    print(f"{command}\nprinted:\n{printed}\nand not:\n{expected}", file=sys.stderr)
                # The page has an empty line between commands.
                block += command + "\n" + printed + "\n"
            size = f" {columns}x{rows}" if columns else f" {need}" if need else ""
            return f"```console{size}\n" + block.rstrip("\n") + "\n```"

        try:
            text = BLOCK.sub(run, text)
        finally:
            for group in groups:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(group, signal.SIGKILL)
    if "--write" in sys.argv:
        page.write_text(text)
    else:
        print(f"{count} commands of {page} print what they should" if not faults else f"{faults} of {count} differ")
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
