#!/usr/bin/env python3
"""Breaks what verdicts rest on, place by place, and says which test notices.

    scripts/mutants.py [--work DIR] [--only REGEX] [--again] [--limit SECONDS] [--table OUT.md]

The mutants are in mutants.txt beside this script. All of them are built at once: the sources are copied to DIR, and
each chosen place becomes a choice between what it was and what it shall be, made by the number in the environment
variable PALISADE_MUTANT. Without it all tests must pass; how long each takes then gives the order in which they look
at a mutant, the fastest first, but for those that noticed others lately. A test that fails, panics or takes ten times as long as it did (and --limit seconds more)
has noticed it. Results are kept in DIR, and a second call goes on with what nobody noticed; --again forgets them.
"""
import argparse, json, os, re, shutil, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
# Which tests are asked about mutants of a file: those whose names begin so. The first line that fits counts.
CHECKERS = ["check:", "check/trusted: rules", "check/trusted: contracts", "check/trusted: refused", "check/trusted: replays", "check/trusted: memory"]
ASKED = [
    ("crates/lrat", ["lrat"]),
    ("crates/reduce", ["reduce"] + CHECKERS),
    ("crates/task", ["check/trusted: contracts"] + CHECKERS),
    ("crates/encode", ["encode", "check"]),
    (r"crates/check/src/plain/(encoder|expr|memory|state)", ["check"]),
    ("crates/check", CHECKERS),
]
CRATES = ["lrat", "encode", "check", "reduce", "task"]
SWITCH = """//! The mutant that is switched on.

pub(crate) fn is(number: u32) -> bool {
    static CHOSEN: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *CHOSEN.get_or_init(|| std::env::var("PALISADE_MUTANT").ok().and_then(|n| n.parse().ok()).unwrap_or(0)) == number
}
"""


def mutants(path):
    """Three lines each, under the name of a file in brackets: what is broken, the place, and the replacement. The
    place stands between « and » in some of its surroundings, of which … leaves out a part. A fourth line `same:` says
    why no answer can differ; such a mutant is not tried."""
    found, file, lines = [], None, []
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if line.startswith("["):
            file = line.strip("[]")
        elif line.strip().startswith("same: ") and found and not lines:
            found[-1]["same"] = line.strip()[len("same: "):]
        elif line and not line.startswith("#"):
            lines.append(line.strip())
            if len(lines) == 3:
                found.append({"file": file, "what": lines[0], "find": lines[1], "new": lines[2], "line": number})
                lines = []
    if lines:
        sys.exit(f"{path}: the last mutant is incomplete")
    return found


def place(text, mutant):
    """Start and end of what is replaced."""
    def pattern(part):
        return ".*?".join(re.escape(piece.strip(" ")) for piece in part.split("…"))
    try:
        before, rest = mutant["find"].split("«")
        what, after = rest.split("»")
    except ValueError:
        sys.exit(f"mutants.txt:{mutant['line']}: the place is not marked")
    # A space counts next to the place, but not next to what is left out.
    left = before[len(before.rstrip(" ")):] if not before.rstrip(" ").endswith("…") else ""
    right = after[:len(after) - len(after.lstrip(" "))] if not after.lstrip(" ").startswith("…") else ""
    expression = pattern(before) + re.escape(left) + "(" + pattern(what) + ")" + re.escape(right) + pattern(after)
    # Of those that end at the same place the shortest counts.
    matches = {m.end(1): m.span(2) for m in re.finditer(f"(?=({expression}))", text, re.S)}
    if len(matches) != 1:
        sys.exit(f"mutants.txt:{mutant['line']}: {len(matches)} places match: {mutant['find']}")
    return next(iter(matches.values()))


def mutate(text, chosen):
    """The text with a switch at the place of each mutant."""
    spans = {}
    for mutant in chosen:
        spans.setdefault(place(text, mutant), []).append(mutant)
    ordered = sorted(spans)
    for (_, end), (start, _) in zip(ordered, ordered[1:]):
        if start < end:
            sys.exit(f"mutants.txt: {text[start:start + 60]!r} is a part of another place")
    for start, end in reversed(ordered):
        old = text[start:end]
        new = "".join(f"if crate::mutant::is({m['number']}) {{ {m['new']} }} else " for m in spans[start, end])
        new += f"{{ {old} }}"
        text = text[:start] + (new if old.endswith(";") else f"({new})") + text[end:]
    return text


def sources(work, found):
    """Copies what is under version control, or would be, and puts the switches in."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], check=True,
                            capture_output=True, text=True).stdout.split("\n")
    texts = {}
    for name in filter(None, listed):
        source = os.path.join(ROOT, name)
        if os.path.isfile(source):
            texts[name] = open(source, "rb").read()
    for file in {m["file"] for m in found}:
        text = mutate(texts[file].decode(), [m for m in found if m["file"] == file])
        texts[file] = text.encode()
    for crate in {m["file"].split("/")[1] for m in found}:
        lib = f"crates/{crate}/src/lib.rs"
        texts[lib] += b"\nmod mutant;\n"
        texts[f"crates/{crate}/src/mutant.rs"] = SWITCH.encode()
    for name, text in texts.items():
        path = os.path.join(work, name)
        # What stays as it is must keep its time, or everything is built again.
        if os.path.exists(path) and open(path, "rb").read() == text:
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            out.write(text)


def build(work):
    """Builds the tests; gives the programs of each crate with the folder to run them in."""
    command = ["cargo", "test", "--release", "--no-run", "--message-format=json"]
    command += [word for c in CRATES for word in ("-p", f"palisade-{c}")]
    done = subprocess.run(command, cwd=work, stdout=subprocess.PIPE, text=True)
    programs = []
    for line in done.stdout.split("\n"):
        message = json.loads(line) if line.startswith("{") else {}
        if message.get("reason") == "compiler-message" and message["message"]["level"] == "error":
            print(message["message"]["rendered"])
        if message.get("executable") and message.get("profile", {}).get("test"):
            folder = os.path.dirname(message["manifest_path"])
            programs.append((os.path.basename(folder), message["target"]["name"], message["executable"], folder))
    if done.returncode != 0:
        sys.exit("the mutants do not build")
    return programs


class Test:
    def __init__(self, crate, target, program, folder, name):
        self.program, self.folder, self.name = program, folder, name
        self.shown = f"{crate}: {name}" if target.startswith("palisade") else f"{crate}/{target}: {name}"
        # How long it takes, and the last mutant that it noticed.
        self.seconds = self.noticed = 0

    def passes(self, number, limit):
        """Whether it passes, and why it does not."""
        # Programs of csmith would notice little more, and take most of the time.
        environment = dict(os.environ, PALISADE_MUTANT=str(number), PALISADE_ENCODED_CSMITH="0", RUST_BACKTRACE="0")
        started = time.monotonic()
        try:
            done = subprocess.run([self.program, "--exact", self.name, "--test-threads", "1"], cwd=self.folder,
                                  env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=limit)
        except subprocess.TimeoutExpired:
            return False, "hangs"
        finally:
            self.seconds = self.seconds or time.monotonic() - started
        return done.returncode == 0, "crashes" if done.returncode < 0 else "fails"


def tests(programs, limit):
    """All tests, the fastest first; without a mutant they must pass."""
    found = []
    for crate, target, program, folder in programs:
        listed = subprocess.run([program, "--list"], capture_output=True, text=True, cwd=folder).stdout
        for line in listed.split("\n"):
            if line.endswith(": test"):
                found.append(Test(crate, target, program, folder, line[:-len(": test")]))
    for test in found:
        passes, why = test.passes(0, 600)
        if not passes:
            sys.exit(f"{test.shown} {why} without a mutant")
    return sorted(found, key=lambda test: test.seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", default=os.path.join(tempfile.gettempdir(), "palisade-mutants"))
    parser.add_argument("--only", default="", help="only mutants whose file or description matches")
    parser.add_argument("--again", action="store_true", help="forget earlier results")
    parser.add_argument("--limit", type=float, default=20, help="seconds that a test may take besides")
    parser.add_argument("--table", help="where the table goes")
    args = parser.parse_args()
    found = mutants(os.path.join(HERE, "mutants.txt"))
    for number, mutant in enumerate(found, 1):
        mutant["number"] = number
        mutant["key"] = "\t".join((mutant["file"], mutant["find"], mutant["new"]))
    os.makedirs(args.work, exist_ok=True)
    sources(args.work, found)
    started = time.monotonic()
    everything = tests(build(args.work), args.limit)
    print(f"{len(found)} mutants, {len(everything)} tests; built and run once in {time.monotonic() - started:.0f} s")
    kept = os.path.join(args.work, "results.json")
    results = {} if args.again or not os.path.exists(kept) else json.load(open(kept))
    for mutant in found:
        if "same" in mutant or results.get(mutant["key"]) or not re.search(args.only, mutant["file"] + " " + mutant["what"]):
            continue
        names = next(names for pattern, names in ASKED if re.match(pattern, mutant["file"]))
        noticed = None
        # What noticed the neighbours often notices this one, too.
        for test in sorted(everything, key=lambda test: -test.noticed):
            if not test.shown.startswith(tuple(names)):
                continue
            passes, why = test.passes(mutant["number"], 10 * test.seconds + args.limit)
            if not passes:
                noticed = f"{test.shown} {why}" if why != "fails" else test.shown
                test.noticed = mutant["number"]
                break
        results[mutant["key"]] = noticed
        json.dump(results, open(kept, "w"), indent=0)
        print(f"{mutant['number']:4} {mutant['file']}: {mutant['what']}: {noticed or 'NOT NOTICED'}", flush=True)
    differ = [m for m in found if "same" not in m]
    left = [m for m in differ if not results.get(m["key"])]
    print(f"{len(differ) - len(left)} of {len(differ)} are noticed")
    if args.table:
        table(args.table, found, results)
    sys.exit(1 if left else 0)


def table(path, found, results):
    code = lambda text: "`" + text.replace("|", "\\|") + "`"
    seen = [m for m in found if m["key"] in results or "same" in m]
    differ = [m for m in seen if "same" not in m]
    noticed = sum(bool(results[m["key"]]) for m in differ)
    said = lambda m: m["same"] if "same" in m else results[m["key"]] or "**nobody**"
    lines = ["# What the tests notice", "",
             "`scripts/mutants.py --table docs/mutants.md` wrote this: each row is a place of the encoders, the reductions or the",
             "checkers that was replaced as said, and a test that noticed.",
             f"Of {len(found)} mutants {len(differ)} were tried, and {noticed} of these are noticed; {len(seen) - len(differ)}"
             " cannot change an answer, for the reason that stands instead of a test.", ""]
    for file in dict.fromkeys(m["file"] for m in seen):
        lines += [f"## {file}", "", "| broken | was | is | noticed by |", "|---|---|---|---|"]
        for m in (m for m in seen if m["file"] == file):
            old = m["find"].split("«")[1].split("»")[0]
            lines.append(f"| {m['what']} | {code(old)} | {code(m['new'])} | {said(m)} |")
        lines.append("")
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join(lines))


if __name__ == "__main__":
    main()
