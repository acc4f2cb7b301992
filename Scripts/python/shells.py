#!/usr/bin/env python3
"""Types into real shells, presses Tab, and checks what the command typed-cache gets.

    Scripts/python/shells.py COMMAND [SHELL …]

For each shell that is there: sources the completions that `COMMAND completions SHELL` prints, types the beginning of a
line, presses Tab and Return, and compares the arguments that a stand-in for the command is given. Says "skipped" for a
shell that is missing, and ends with 1 if anything differs.
"""

import json
import os
import pathlib
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time

KEYS = ["user/7", "page 8", "it's", 'say "hi"', "pay$me", "two\nlines", "back\\slash", "über", "bang!x", "a:b:c", "(paren)"]

# Arguments before the word, the word's beginning as it is typed, and the word that must come out.
CASES = [
    ([], "compl", "completions"),
    (["list"], "--old", "--older-than"),
    (["list", "--sort"], "exp", "expires"),
    (["list", "--root", "{root}", "--cache"], "my", "my pages"),
    (["list", "--root", "{root}", "--cache"], "'my", "my pages"),
    *[(["get", "--root", "{root}", "--cache", "my pages"], None, key) for key in KEYS],
    (["get", "--root", "{root}", "--cache", "my pages"], "'pa", ["page 8", "pay$me"]),
    (["get", "--root", "{root}", "--cache", "my pages"], '"page', "page 8"),
    (["get", "--root", "{root}", "--cache", "my pages"], "a:b", "a:b:c"),
]


def typed(key):
    """A beginning of the key that only it has."""
    start = {"page 8": "page", "back\\slash": "back", "bang!x": "ban", "pay$me": "pay", "(paren)": "\\(p", "it's": "it"}.get(key)
    return start or key[:2]


def quoted(word):
    return "'" + word.replace("'", "'\\''") + "'" if not word.isalnum() else word


class Shell:
    """A shell on a terminal of its own."""

    def __init__(self, name, folder, stand_in):
        home = folder / f"home-{name}"
        home.mkdir()
        environment = {
            "HOME": str(home), "PATH": f"{stand_in}:{os.environ['PATH']}", "TERM": "xterm", "LC_ALL": "C.UTF-8",
            "XDG_CACHE_HOME": str(home), "PS1": "ready> ", "INPUTRC": "/dev/null", "SHELL": "/bin/sh",
        }
        commands = {
            "bash": ["bash", "--norc", "--noprofile", "-i"],
            "zsh": ["zsh", "-f", "-i"],
            "fish": ["fish", "--private", "--no-config", "-i"],
        }
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.execvpe(commands[name][0], commands[name], environment)
        self.output = b""

    def send(self, text):
        os.write(self.terminal, text.encode())

    def read(self, seconds):
        """Waits for output, at most so long, and until there is no more."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            ready, _, _ = select.select([self.terminal], [], [], left)
            if not ready:
                return
            try:
                data = os.read(self.terminal, 65536)
            except OSError:
                return
            # fish asks terminals what they are, and waits for the answer.
            if b"\x1b[c" in data or b"\x1b[0c" in data:
                self.send("\x1b[?1;2c")
            self.output += data

    def wait_for(self, path, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(0.05)
            if path.exists():
                return True
        return False

    def end(self):
        os.close(self.terminal)
        time.sleep(0.05)
        try:
            os.kill(self.process, 9)
        except ProcessLookupError:
            pass
        os.waitpid(self.process, 0)


def check(name, command, folder):
    """The faults of one shell."""
    stand_in = folder / f"bin-{name}"
    stand_in.mkdir()
    answer = folder / f"answer-{name}"
    # Completes with the real command, and otherwise writes down its arguments.
    (stand_in / "typed-cache").write_text(
        "#!/usr/bin/env python3\nimport json, os, sys\n"
        f"if sys.argv[1:2] == ['complete']: os.execv({str(command)!r}, ['typed-cache'] + sys.argv[1:])\n"
        f"open({str(answer) + '.new'!r}, 'w').write(json.dumps(sys.argv[1:]))\n"
        f"os.rename({str(answer) + '.new'!r}, {str(answer)!r})\n"
    )
    (stand_in / "typed-cache").chmod(0o755)
    script = folder / f"completions.{name}"
    script.write_bytes(subprocess.run([command, "completions", name], check=True, capture_output=True).stdout)
    root = folder / "caches"
    shell = Shell(name, folder, stand_in)
    faults = []
    started = folder / f"started-{name}"
    setup = {"zsh": "autoload -Uz compinit; compinit -u -D; ", "bash": "bind 'set bell-style none'; "}.get(name, "")
    shell.read(1)
    shell.send(f"{setup}. {script}; echo > {started}\r")
    if not shell.wait_for(started, 30):
        return [f"{name} does not start: {shell.output[-300:]!r}"]
    def fault_of(before, beginning, expected, patience):
        """The fault of a case, if there is one; a busy machine needs more patience."""
        words = [word.format(root=root) for word in before]
        beginning = beginning or typed(expected)
        line = " ".join(["typed-cache", *map(quoted, words), beginning])
        answer.unlink(missing_ok=True)
        shell.read(0.1)
        shell.output = b""
        shell.send(line)
        shell.read(0.15 * patience)
        shell.send("\t")
        if isinstance(expected, list):
            # Both are listed; then the line is left.
            end = time.monotonic() + 5
            shell.read(0.7 * patience)
            shell.send("\t")
            while time.monotonic() < end and not all(key.encode() in shell.output for key in expected):
                shell.read(0.2)
            listed = all(key.encode() in shell.output for key in expected)
            give_up(patience)
            return None if listed else f"{name}: {line} does not list {expected}: {shell.output[-300:]!r}"
        shell.read(0.8 * patience)
        shell.send("\r")
        if not shell.wait_for(answer, 10):
            give_up(patience)
            return f"{name}: {line} was not run: {shell.output[-300:]!r}"
        given = json.loads(answer.read_text())
        if given != [*words, expected]:
            return f"{name}: {line} became {given[len(words):]}, and not {expected!r}; {shell.output[-200:]!r}"
        return None

    def give_up(patience):
        for _ in range(2):
            shell.send("\x03")
            shell.read(0.3 * patience)

    try:
        for case in CASES:
            for patience in (1, 3, 8):
                fault = fault_of(*case, patience)
                if fault is None:
                    break
            if fault:
                faults.append(fault)
    finally:
        shell.end()
    return faults


def main():
    command = pathlib.Path(sys.argv[1]).resolve()
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        records = "".join(json.dumps({"id": key}) + "\n" for key in KEYS)
        subprocess.run(
            [command, "warm", "-", "--key", "id", "--cache", "my pages", "--root", folder / "caches", "--quiet"],
            input=records.encode(), check=True,
        )
        for shell in sys.argv[2:] or ["bash", "zsh", "fish"]:
            if not shutil.which(shell):
                print(f"skipped: {shell} is not installed")
                continue
            faults = check(shell, command, folder)
            print(*faults or [f"{shell}: {len(CASES)} completions are right"], sep="\n")
            failed = failed or bool(faults)
    sys.exit(failed)


if __name__ == "__main__":
    main()
