"""Runs a command, and shows of its output only the lines that a person needs.

    quiet.py build LOG COMMAND …    a build: its messages if it fails
    quiet.py tests LOG COMMAND …    `swift test`: failures whole, a line for each suite, a total

All of the output goes to the file LOG. A terminal has a line that is rewritten and shows the progress; elsewhere a line
is printed every half minute. The exit code is the command's, 130 after an interruption, or 1 if the command was ended
because it printed nothing for TYPED_CACHE_SILENCE seconds, 900 unless set: a test that hangs would hold up a run without
end.
"""

import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

SECONDS_BETWEEN_LINES = 30
# Lines that are kept to explain an end for which no test has given a reason, such as a crash.
KEPT_LINE_COUNT = 200
# Tests begin and end all the time. The longest on a slow machine takes a few minutes.
SECONDS_OF_SILENCE = float(os.environ.get("TYPED_CACHE_SILENCE", 900))
COLOR = re.compile(r"\x1b\[[0-9;]*m")


class Screen:
    """Standard output: lines that stay, and one below them that shows the progress."""

    def __init__(self):
        self.is_terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self.last = time.monotonic()
        self.is_dirty = False

    def print(self, line):
        self.clear()
        print(line, flush=True)
        self.last = time.monotonic()

    def progress(self, text):
        now = time.monotonic()
        if self.is_terminal:
            if now - self.last < 0.1:
                return
            width = shutil.get_terminal_size().columns - 1
            sys.stdout.write("\r\x1b[K" + text[:width])
            sys.stdout.flush()
            self.is_dirty = True
            self.last = now
        elif now - self.last >= SECONDS_BETWEEN_LINES:
            self.print(text)

    def clear(self):
        if self.is_dirty:
            sys.stdout.write("\r\x1b[K")
            self.is_dirty = False


class Build:
    """The output of `swift build`: quiet until it fails."""

    STEP = re.compile(r"^\[(\d+)/(\d+)\] ")

    def __init__(self, screen):
        self.screen = screen
        self.messages = []

    def read(self, line):
        step = self.STEP.match(line)
        if step:
            self.screen.progress(f"  building: {step[1]} of {step[2]} steps")
        else:
            self.messages.append(line)

    def unended(self):
        return []

    def finish(self, status, seconds):
        if status == 0:
            self.screen.print(f"  built in {seconds:.0f} s")
            return status
        # The compiler's messages come once for each of its jobs that meets the fault.
        for line in dict.fromkeys(self.messages) if len(self.messages) > 500 else self.messages:
            self.screen.print(line)
        return status


class Tests:
    """The output of Swift Testing: each event begins with a symbol; lines without one go on with the event before.

    ✔ passed, ━ passed with known issues, ✘ failed or an issue, ◇ began, ➜ skipped, ↳ more of the event before.
    """

    STARTED = re.compile(r"^◇ Test (?!case |run )(.+) started\.$")
    ENDED = re.compile(
        r"^[✔✘━] (Test|Suite) (?!run )(.+?)(?: with \d+ test cases?)? (passed|failed) after ([\d.]+) seconds"
    )
    SKIPPED = re.compile(r'^➜ (Test|Suite) (.+?) skipped(?:: (.*?))?\.?$')
    TOTAL = re.compile(r"^[✔✘━] Test run with (.+) (passed|failed) after ([\d.]+) seconds(.*?)\.?$")
    # After what a test has printed without the end of a line, or within the event of an argument with several lines.
    LATE_END = re.compile(r"[✔✘━] (?:Test|Suite) .+ (?:passed|failed) after [\d.]+ seconds.*$")

    def __init__(self, screen):
        self.screen = screen
        self.running = collections.Counter()
        # Tests and the cases of those that have several. Many end together, when the last case of each has ended.
        self.begun_count = 0
        self.done_count = 0
        self.skipped = collections.Counter()
        self.failed = []
        self.total = None
        self.is_shown = False
        self.other = collections.deque(maxlen=KEPT_LINE_COUNT)

    def read(self, line):
        if not self.ENDED.match(line) and (late := self.LATE_END.search(line, 1)):
            self.read(line[: late.start()])
            line = late[0]
        if line.startswith("✘"):
            self.is_shown = True
            self.end(line)
        elif line.startswith(("◇", "✔", "━", "➜")):
            self.is_shown = False
            self.begin(line)
            self.end(line)
        elif not self.is_shown and not line.startswith("↳"):
            self.other.append(line)
        if self.is_shown and not self.TOTAL.match(line):
            self.screen.print(line)
        else:
            self.screen.progress(f"  testing: {self.begun_count} cases begun, {self.done_count} tests done{self.names()}")

    def begin(self, line):
        if line.startswith("◇ Test "):
            self.begun_count += 1
        if started := self.STARTED.match(line):
            self.running[started[1]] += 1
        elif skipped := self.SKIPPED.match(line):
            # A suite that is skipped names its tests as well.
            if skipped[1] == "Test":
                self.skipped[(skipped[3] or "no reason given").strip('"')] += 1

    def end(self, line):
        if total := self.TOTAL.match(line):
            self.total = total
        elif ended := self.ENDED.match(line):
            kind, name, result, seconds = ended.groups()
            if kind == "Test":
                self.done_count += 1
                self.running[name] -= 1
                if result == "failed":
                    self.failed.append(name)
            elif result == "passed":
                self.screen.print(f"  ✔ {name.strip(chr(34))}, {float(seconds):.1f} s")

    def names(self):
        names = [name for name, count in self.running.items() if count > 0]
        return ", now " + ", ".join(names[-2:]) if names else ""

    def unended(self):
        names = [name for name, count in self.running.items() if count > 0]
        return ["Tests that had not ended: " + ", ".join(names)] if names else []

    def finish(self, status, seconds):
        if status != 0 and not (self.total and self.failed):
            # Crashed, or never began.
            for line in self.other:
                self.screen.print(line)
        if self.total:
            count, result, took, issues = self.total.groups()
            self.screen.print(f"  {count} {result} in {float(took):.0f} s{issues}")
        for reason, count in self.skipped.most_common():
            self.screen.print(f"  {count} skipped: {reason}")
        for name in dict.fromkeys(self.failed):
            self.screen.print(f"  ✘ {name}")
        if status == 0 and not self.total:
            self.screen.print("No test was run.")
            return 1
        return status


class Watchdog:
    """Ends a process that has printed nothing for long, and its children with it."""

    def __init__(self, process):
        self.process = process
        # Counted, and not read from a clock: the machine itself may stand still.
        self.silence = 0
        self.has_ended_it = False
        # Of its threads, when it was ended.
        self.stacks = []
        threading.Thread(target=self.watch, daemon=True).start()

    def heard(self):
        self.silence = 0

    def watch(self):
        pause = min(1, SECONDS_OF_SILENCE / 10)
        while self.process.poll() is None:
            if self.silence >= SECONDS_OF_SILENCE:
                self.has_ended_it = True
                numbers = [*descendants(self.process.pid), self.process.pid]
                self.stacks = [line for number in numbers for line in stacks(number)]
                for number in numbers:
                    try:
                        os.kill(number, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
                return
            time.sleep(pause)
            self.silence += pause


def stacks(process):
    """The functions that the threads of a process are in, innermost first. Needs gdb."""
    debugger = ["gdb", "-p", str(process), "-batch", "-nx", "-ex", "set width 0", "-ex", "thread apply all backtrace 60"]
    backtraces = text_of(debugger, "")
    threads = [
        re.findall(r"^#\d+ +(?:0x\w+ in )?(\S+) \(", thread, re.MULTILINE) for thread in backtraces.split("\nThread ")[1:]
    ]
    # Functions of Swift only.
    threads = [[name for name in names if name.startswith("$s")][:6] for names in threads]
    names = sorted({name for names in threads for name in names})
    plain = dict(zip(names, text_of(["swift", "demangle", "-compact", "-simplified"], "\n".join(names)).splitlines()))
    counts = collections.Counter(" < ".join(plain.get(name, name)[:100] for name in names) for names in threads if names)
    return [f"  {count} x {functions}" for functions, count in counts.most_common()]


def text_of(command, text):
    """What a command prints for an input; nothing if there is no such command, or if it does not end."""
    try:
        run = subprocess.run(
            command,
            input=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
            timeout=120,
        )
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return ""
    return run.stdout


def descendants(process):
    """The numbers of the processes that a process has started, and of those that these have started."""
    output = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], stdout=subprocess.PIPE, text=True, check=True).stdout
    children = collections.defaultdict(list)
    for line in output.splitlines():
        child, parent = map(int, line.split())
        children[parent].append(child)
    found = [process]
    for number in found:
        found += children[number]
    return found[1:]


def run(kind, log, command):
    screen = Screen()
    reader = {"build": Build, "tests": Tests}[kind](screen)
    started = time.monotonic()
    log.parent.mkdir(parents=True, exist_ok=True)
    is_interrupted = False
    with log.open("w") as file, subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", bufsize=1
    ) as process:
        watchdog = Watchdog(process)
        try:
            for line in process.stdout:
                watchdog.heard()
                file.write(line)
                reader.read(COLOR.sub("", line.rstrip("\n")))
        except KeyboardInterrupt:
            # The terminal has interrupted the command as well.
            is_interrupted = True
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.terminate()
        status = process.wait()
    screen.clear()
    if is_interrupted:
        screen.print("Interrupted.")
        return 130
    status = reader.finish(status, time.monotonic() - started)
    if watchdog.has_ended_it:
        screen.print(f"Ended, for it printed nothing for {SECONDS_OF_SILENCE:.0f} s. Its threads, innermost first:")
        status = 1
    if status != 0:
        for line in watchdog.stacks + reader.unended():
            screen.print(line)
        screen.print(f"  All of the output is in {os.path.relpath(log)}")
    # A signal, as a shell tells it.
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    kind, log, *command = sys.argv[1:]
    sys.exit(run(kind, pathlib.Path(log), command))
