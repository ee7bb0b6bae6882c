#!/usr/bin/env python3
"""How well the evidence behind verdicts stands, on a folder of verification tasks.

    scripts/evidence.py TOOL DIR OUT.json [-t CPU] [-j JOBS] [-c CATEGORY] [--deadline SECONDS]

DIR holds tasks.json (category, program, property, data_model, expected) and properties/. Each task is settled with
`check --json --certificate --harness`; then the certificate is checked in a fresh process by `recheck`, and the
harness of a violation is compiled with the program by gcc, with sanitizers, and run. Prints the score by category, how
many proofs the plain twin confirms, how many certificates are accepted, and how many violations show on the machine.
Results are written as they come; a second call goes on where the first one ended.
"""
import argparse, concurrent.futures, json, os, random, re, resource, signal, subprocess, sys, tempfile, threading, time

SCORE = {("true", True): 2, ("false", False): 1, ("true", False): -32, ("false", True): -16}


def run(cmd, cpu, mem=4096):
    def limits():
        if mem:
            resource.setrlimit(resource.RLIMIT_AS, (mem << 20,) * 2)
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu * 1.15) + 2,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    p = subprocess.Popen(cmd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                         preexec_fn=limits, start_new_session=True)
    try:
        out, err = p.communicate(timeout=cpu * 6 + 20)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        out, err = p.communicate()
    return p.returncode, out.decode(errors="replace"), err.decode(errors="replace")


def settle(a, t):
    program = os.path.join(a.dir, t["program"])
    prp = os.path.join(a.dir, "properties", t["property"] + ".prp")
    found = dict(t)
    with tempfile.TemporaryDirectory() as folder:
        proof, harness, binary = (os.path.join(folder, n) for n in ("proof", "harness.c", "program"))
        start = time.time()
        code, out, err = run([a.tool, "check", "--property", prp, "--data-model", t["data_model"].lower(), "--time-limit",
                              f"{a.cpu:g}s", "--json", "--certificate", proof, "--harness", harness, program], a.cpu)
        found["wall"] = round(time.time() - start, 2)
        try:
            result = json.loads(out)
        except ValueError:
            result = {}
        detail = result.get("violated") or result.get("reason")
        found["verdict"] = result.get("verdict", "") + (f"({detail})" if detail else "")
        found["code"] = code
        if code == 101 or code < 0 or "panicked at" in err:
            found["crash"] = err[-400:]
        for name in ("checked", "engine", "cpu_seconds", "failed_checks", "unfinished_checks", "unsat_answers"):
            found[name] = result.get(name)
        found["reason"] = result.get("reason")
        if os.path.exists(proof):
            code, _, err = run([a.tool, "recheck", proof, program], 3 * a.cpu)
            found["recheck"] = code
            found["recheck_says"] = err[-300:]
        if found["verdict"].startswith("false") and os.path.exists(harness):
            found["harness"], found["harness_says"] = machine(t, program, harness, binary)
    return found


def machine(t, program, harness, binary):
    """Whether a violation shows on the machine."""
    bits = "-m32" if t["data_model"] == "ILP32" else "-m64"
    sanitize = [] if t["property"] == "unreach-call" else ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    build = ["gcc", "-w", "-g", bits, "-fgnu89-inline", *sanitize, "-o", binary, program, harness, "-lm", "-lpthread"]
    code, _, err = run(build, 60, None)
    if code != 0:
        return "not built", err[:300]
    code, out, err = run(["env", "ASAN_OPTIONS=detect_leaks=1", binary], 20, None)
    marks = ["violation reached", "runtime error", "AddressSanitizer", "LeakSanitizer", "Assertion"]
    shown = any(m in err or m in out for m in marks) or code in (-11, -6)
    return ("reached" if shown else "not reached"), f"{code} {err[:200]}"


def table(results):
    print("| category | n | true | false | wrong | unknown | score | of | % |\n|---|---|---|---|---|---|---|---|---|")
    total = [0] * 7
    for category in sorted({r["category"] for r in results}):
        rows = [r for r in results if r["category"] == category]
        numbers = [len(rows), 0, 0, 0, 0, 0, 0]
        for r in rows:
            verdict = re.match("true|false|", r["verdict"]).group()
            sub, said = r.get("subproperty"), re.match(r"false\(([^)]*)\)", r["verdict"])
            if verdict == "false" and not r["expected"] and sub and said and said.group(1) not in (sub, r["property"]):
                verdict = ""
            points = SCORE.get((verdict, r["expected"]), 0)
            numbers[{2: 1, 1: 2, 0: 4}.get(points, 3)] += 1
            numbers[5] += points
            numbers[6] += 2 if r["expected"] else 1
        total = [a + b for a, b in zip(total, numbers)]
        print(f"| {category} | " + " | ".join(map(str, numbers)) + f" | {100 * numbers[5] // max(1, numbers[6])} |")
    print("| all | " + " | ".join(map(str, total)) + f" | {100 * total[5] // max(1, total[6])} |")


def shares(results):
    proved = [r for r in results if r["verdict"] == "true"]
    wrong = [r for r in results if r["verdict"].startswith("false")]

    def share(what, rows, good):
        if rows:
            print(f"{what}: {good} of {len(rows)}, {100 * good / len(rows):.1f} %")
    share("proofs that the plain twin confirms", proved, sum(r["checked"] == "plain" for r in proved))
    for name, rows in (("proofs", proved), ("violations", wrong)):
        rows = [r for r in rows if "recheck" in r]
        share(f"certificates of {name} that recheck accepts", rows, sum(r["recheck"] in (0, 1) for r in rows))
    wrong = [r for r in wrong if "harness" in r]
    share("violations that show on the machine", wrong, sum(r["harness"] == "reached" for r in wrong))
    cpu = sorted(r["cpu_seconds"] for r in results if r["cpu_seconds"] is not None and r["verdict"][:4] in ("true", "fals"))
    if cpu:
        print(f"CPU of settled tasks: median {cpu[len(cpu) // 2]:.2f} s, total {sum(cpu):.0f} s")
    print(f"crashes: {sum('crash' in r for r in results)}; evidence refused: {sum(r['failed_checks'] or 0 for r in results)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool"), parser.add_argument("dir"), parser.add_argument("out")
    parser.add_argument("-t", "--cpu", type=float, default=20)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("-c", "--category", default="")
    parser.add_argument("--deadline", type=float, help="begin no task after so many seconds")
    a = parser.parse_args()
    tasks = [t for t in json.load(open(os.path.join(a.dir, "tasks.json"))) if re.search(a.category, t["category"])]
    random.Random(1).shuffle(tasks)
    done = [json.loads(l) for l in open(a.out)] if os.path.exists(a.out) else []
    seen = {(r["program"], r["property"]) for r in done}
    todo = [t for t in tasks if (t["program"], t["property"]) not in seen]
    lock, start = threading.Lock(), time.time()

    def one(t):
        if a.deadline and time.time() - start > a.deadline:
            return
        result = settle(a, t)
        with lock, open(a.out, "a") as out:
            done.append(result)
            out.write(json.dumps(result) + "\n")
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for future in [pool.submit(one, t) for t in todo]:
            future.result()
    chosen = {(t["program"], t["property"]) for t in tasks}
    done = [r for r in done if (r["program"], r["property"]) in chosen]
    table(done)
    shares(done)


if __name__ == "__main__":
    sys.exit(main())
