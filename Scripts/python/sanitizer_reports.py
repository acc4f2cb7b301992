"""Judges the reports of the processes that ran tests under a sanitizer.

    sanitizer_reports.py FOLDER LOG

FOLDER has a file of reports for each process, LOG the output of the tests. Prints the number of tests, of reports that
are known faults of other libraries, and of all other reports. These it prints to standard error, each once, and ends
with 1.

Scripts/lib/foreign-reports.txt lists functions of other libraries that have a fault. A report is known if its first
stack, that of the access, has one of them and none of this package's code further in.
"""

import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "Scripts/lib/foreign-reports.txt"
START = re.compile(r"^.*(?:ERROR|WARNING|FATAL): (?:Address|Thread)Sanitizer.*$", re.MULTILINE)
# As Scripts/sanitize asks for it.
FRAME = re.compile(r"^ *#\d+ (?P<function>.+) at (?P<place>\S*) in (?P<binary>.+)$")
TOTAL = re.compile(r"Test run with (\d+) tests? ")


def known_functions():
    """The functions of the list: each line has one, a colon and the reason."""
    lines = LIST.read_text().splitlines()
    return {line.partition(": ")[0] for line in lines if line and not line.startswith("#")}


def reports(folder):
    for path in sorted(folder.iterdir()):
        text = path.read_text(errors="replace")
        starts = [match.start() for match in START.finditer(text)] + [len(text)]
        for start, end in zip(starts, starts[1:]):
            yield text[start:end].rstrip("=\n")


def demangled(text):
    run = subprocess.run(
        ["swift", "demangle", "-simplified"], input=text, stdout=subprocess.PIPE, text=True, check=True
    )
    return run.stdout


def first_stack(report):
    """The frames of the access, innermost first."""
    stack = []
    for line in report.splitlines():
        if frame := FRAME.match(line):
            stack.append(frame)
        elif stack:
            break
    return stack


def is_ours(frame):
    """Whether a frame is of the package. Its programs contain the sanitizer as well, which has no lines."""
    return frame["binary"].startswith(f"{ROOT}/") and (
        frame["function"].startswith("$s") or frame["place"].startswith(f"{ROOT}/")
    )


def foreign_part(stack):
    """The functions further in than any of the package."""
    names = []
    for frame in stack:
        if is_ours(frame):
            break
        names.append(frame["function"])
    return tuple(names)


def main(folder, log):
    all_reports = list(reports(folder))
    stacks = [first_stack(report) for report in all_reports]
    parts = [foreign_part(stack) for stack in stacks]
    names = sorted({name for part in parts for name in part})
    plain = dict(zip(names, demangled("\n".join(names)).splitlines()))
    known = known_functions()
    known_count = 0
    others = collections.defaultdict(list)
    for report, stack, part in zip(all_reports, stacks, parts):
        if any(plain[name] in known for name in part):
            known_count += 1
        else:
            others[tuple(frame[0] for frame in stack) or report].append(report)
    for alike in others.values():
        text = demangled(alike[0]).replace(f"{ROOT}/", "")
        print(f"\n{len(alike)} x {text}", file=sys.stderr)
    total = TOTAL.findall(log.read_text(errors="replace")) if log.exists() else []
    other_count = sum(map(len, others.values()))
    print(total[-1] if total else 0, known_count, other_count)
    return 1 if others else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
