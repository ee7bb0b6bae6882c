#!/usr/bin/env python3
"""Every function of some C files as an entry: what of it is proved, violated and unknown.

    scripts/functions.py PALISADE DIR.. [-t SECONDS] [-p PROPERTY].. [--pointers valid|nonnull|any] [-j N] [--sample N] [--list OUT.tsv]

DIR holds preprocessed files, as scripts/corpus.sh makes them. For each function that a file defines,

    palisade check --entry F --pointers KIND --property PROPERTY FILE

is run with so many seconds of CPU time. Functions of header files are left out. With --sample only every so
many-th function is taken, so that N of each folder are asked. Prints a table, and the reasons of what is
unknown; --list writes a line for each function: folder, file, function, verdict, seconds, what went wrong.
Ends with 1 if a run crashed.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import subprocess
import sys
import time


def functions(palisade, path):
    """The functions that a preprocessed file defines itself: not those of its headers."""
    command = [palisade, "cfa", "--entry", "", "--format", "json", path]
    run = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if run.returncode != 0:
        return None, run.stderr
    found = []
    for function in json.loads(run.stdout)["functions"]:
        file = (function.get("position") or {}).get("file", "")
        if function["defined"] and file.endswith(".c") and not file.startswith("<library>/"):
            found.append(function["name"])
    return found, ""


def check(palisade, path, function, args):
    """One function: verdict, seconds of CPU time, what went wrong."""
    command = [palisade, "check", "--json", "--entry", function, "--pointers", args.pointers]
    command += [w for p in args.property for w in ("--property", p)]
    command += ["--time-limit", f"{args.time}s", "--wall-limit", f"{args.time * 20}s", path]
    start = time.time()
    try:
        run = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=args.time * 30)
    except subprocess.TimeoutExpired:
        return "crash", time.time() - start, "no answer"
    try:
        result = json.loads(run.stdout)
    except ValueError:
        result = {}
    seconds = result.get("cpu_seconds", min(time.time() - start, args.time))
    verdict, reason = result.get("verdict"), result.get("reason", "")
    if run.returncode not in (0, 1, 3) or not verdict or "internal error" in run.stderr + reason:
        return "refused" if verdict == "error" else "crash", seconds, (run.stderr.strip().splitlines() or ["?"])[0]
    if verdict == "unknown":
        return verdict, seconds, reason
    what, at = result.get("description", ""), result.get("violation_at")
    if at:
        what = f"{at.get('file')}:{at.get('line')}: {what}"
    return f"false({result['violated']})" if verdict == "false" else verdict, seconds, what


def reason(text):
    """Why something is unknown, in short."""
    for mark in ["time limit", "memory limit", "not modelled", "larger than", "after inlining", "recursion"]:
        if mark in text:
            return mark
    return text.split(";")[0][:60]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("palisade")
    parser.add_argument("dirs", nargs="+")
    parser.add_argument("-t", "--time", type=float, default=10)
    parser.add_argument("-p", "--property", action="append")
    parser.add_argument("--pointers", default="valid")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--list")
    args = parser.parse_args()
    args.property = args.property or ["valid-deref"]
    listing = open(args.list, "w") if args.list else None
    crashed = False
    print("| program | functions | asked | proved | violated | unknown | refused | crashed | CPU s |")
    print("|---|---|---|---|---|---|---|---|---|")
    reasons = collections.Counter()
    for folder in args.dirs:
        tasks = []
        for name in sorted(f for f in os.listdir(folder) if f.endswith(".i")):
            path = os.path.join(folder, name)
            found, error = functions(args.palisade, path)
            if found is None:
                print(f"{path}: {error}", file=sys.stderr)
                crashed = True
            tasks += [(path, f) for f in found or []]
        total = len(tasks)
        if args.sample and total > args.sample:
            tasks = [tasks[i * total // args.sample] for i in range(args.sample)]
        counts, seconds = collections.Counter(), 0.0
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            runs = pool.map(lambda task: check(args.palisade, *task, args), tasks)
            for (path, function), (verdict, used, what) in zip(tasks, runs):
                kind = verdict.split("(")[0]
                counts[kind] += 1
                seconds += used
                if kind == "unknown":
                    reasons[reason(what)] += 1
                if listing:
                    row = [folder, os.path.basename(path), function, verdict, f"{used:.1f}", what]
                    print("\t".join(row), file=listing, flush=True)
        crashed |= counts["crash"] > 0
        cells = [counts[k] for k in ("true", "false", "unknown", "refused", "crash")]
        name = os.path.basename(os.path.normpath(folder))
        print(f"| {name} | {total} | {len(tasks)} | " + " | ".join(map(str, cells)) + f" | {seconds:.0f} |", flush=True)
    print()
    for why, count in reasons.most_common():
        print(f"{count:5} {why}")
    return 1 if crashed else 0


if __name__ == "__main__":
    sys.exit(main())
