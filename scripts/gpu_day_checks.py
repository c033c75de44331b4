# SPDX-License-Identifier: MIT
"""Checks of a part's results, beyond an exit code of 0. Each check takes the part's folder and returns words for its row."""
import json
import re

from gpu_day_run import Problem


def summaries(folder):
    return [json.loads(path.read_text()) for path in sorted(folder.glob("results*/**/run_summary.json"))]


def cases_of(folder):
    return [case for summary in summaries(folder) for case in summary["cases"]]


def first_line(text):
    return (text.strip().splitlines() or ["no reason given"])[0][:200]


def number(case, *keys):
    """case[k0][k1]…, or None where one of them is missing."""
    for key in keys:
        case = case.get(key) if isinstance(case, dict) else None
    return case


def check_on_device(case, device):
    """Inference says where it ran, and the device's clock must have counted."""
    if device == "cpu" or case["benchmark"]["kind"] != "inference":
        return
    if not str(number(case, "effective_settings", "device")).startswith("cuda"):
        raise Problem(f"{case['label']} ran on '{number(case, 'effective_settings', 'device')}', not on the GPU")
    if case["benchmark"]["scenario"] == "sync" and not (number(case, "device_p50_ns", "value") or 0) > 0:
        raise Problem(f"{case['label']} has no time on the device's clock")


def all_ok(count, device):
    """Every one of `count` cases ran, is right, and ran where it was sent."""
    def check(folder):
        cases = cases_of(folder)
        bad = [c for c in cases if c["outcome"] != "ok"]
        if bad:
            raise Problem(f"{len(bad)} of {len(cases)} cases not ok; {bad[0]['label']}: {first_line(bad[0]['reason'])}")
        if len(cases) != count:
            raise Problem(f"{len(cases)} cases have results, {count} were asked for")
        for case in cases:
            if number(case, "correctness", "checked") and not number(case, "correctness", "passed"):
                raise Problem(f"{case['label']}: its outputs are wrong")
            check_on_device(case, device)
        return f"{count} case{'s' if count > 1 else ''}"
    return check


def watched(case):
    """Checks the readings of the driver's library in the timed window."""
    devices = case.get("devices") or []
    lacking = [name for name in ("sm_clock_mean_mhz", "power_mean_w", "energy_j") if not devices or number(devices[0], name) is None]
    if lacking:
        raise Problem(f"{case['label']}: the GPU's {', '.join(lacking)} was not read")


def timed_both_ways(count, device):
    """Half of the cases are timed back to back, and every one was watched on a GPU."""
    def check(folder):
        all_ok(count, device)(folder)
        cases = cases_of(folder)
        blocks = [case for case in cases if number(case, "back_to_back_ns", "value")]
        if 2 * len(blocks) != count:
            raise Problem(f"{len(blocks)} of {count} cases were timed back to back")
        if device != "cpu":
            for case in cases:
                watched(case)
        return f"{count} cases, {len(blocks)} back to back"
    return check


def googletest(folder):
    """At least one test has run: if all tests of a program were skipped, it has shown nothing."""
    log = (folder / "log.txt").read_text(errors="replace")
    passed, skipped = (sum(map(int, re.findall(rf"^\[  {word} +\] (\d+) tests?\b", log, re.M))) for word in ("PASSED", "SKIPPED"))
    if passed < 1:
        raise Problem(f"no test ran, {skipped} were skipped")
    return f"{passed} passed, {skipped} skipped"


def python_tests(folder):
    log = (folder / "log.txt").read_text(errors="replace")
    ran = re.search(r"^Ran (\d+) tests?", log, re.M)
    skipped = re.search(r"^OK \(.*skipped=(\d+)", log, re.M)
    count, left = int(ran[1]) if ran else 0, int(skipped[1]) if skipped else 0
    if count - left < 1:
        raise Problem(f"no test ran, {left} were skipped")
    return f"{count - left} passed, {left} skipped"


def last_line(folder):
    return first_line((folder / "log.txt").read_text(errors="replace").strip().splitlines()[-1])


def validated(device):
    """The tool's own list; on a GPU the plug-in must load."""
    def check(folder):
        log = (folder / "log.txt").read_text(errors="replace")
        row = re.search(r"^.*plug-in cuda +(.*)$", log, re.M)
        if device != "cpu" and not (row and row[1].startswith("LibTorch ")):
            raise Problem("the plug-in cuda does not load: " + (row[1] if row else "validate has no row for it"))
        fails = len(re.findall(r"^ *FAIL\b", log, re.M))
        return f"{fails} FAIL of the machine's settings" if fails else "nothing FAILs"
    return check


def lost_rank(folder):
    """A killed rank fails the case, and the reason names it."""
    case, = cases_of(folder)
    if case["outcome"] != "failed" or "rank 1" not in case["reason"]:
        raise Problem(f"the case is {case['outcome']} and says '{first_line(case['reason'])}'; rank 1 was killed")
    return "named: " + first_line(case["reason"])


def profiled(device):
    """A trace, operators, and shares that are shares."""
    def check(folder):
        all_ok(1, device)(folder)
        case, = cases_of(folder)
        profile, = case["operator_profile"]
        if profile["reason"]:
            raise Problem("no profile: " + first_line(profile["reason"]))
        total = sum(row["share"] or 0 for row in profile["top"])
        if not profile["top"] or total > 1.001:
            raise Problem(f"the shares of {len(profile['top'])} operators are {total:.1%} together")
        return f"{len(profile['top'])} operators have {total:.0%}"
    return check


def resumed(device):
    """The second run went on where the first one's checkpoint was."""
    def check(folder):
        all_ok(2, device)(folder)
        steps = [case["training"][0]["checkpoints"]["resumed_step"] for case in cases_of(folder)]
        went_on = [step for step in steps if step]
        if len(went_on) != 1:
            raise Problem(f"one of two runs must have gone on from a checkpoint; steps they began with: {steps}")
        return f"went on from step {went_on[0]}"
    return check


def compared(folder):
    """Rows of tools/compare_pytorch.py."""
    rows = [line.split("|") for line in (folder / "compare.md").read_text().splitlines()[2:] if line.startswith("|")]
    if not rows:
        raise Problem("compare.md has no row")
    return "; ".join(f"{r[2].strip()} {r[3].strip()} b{r[4].strip()}: ratio {r[7].strip()} ({r[8].strip()})" for r in rows)


def sanitized(folder):
    log = (folder / "log.txt").read_text(errors="replace")
    summary = re.findall(r"ERROR SUMMARY: (\d+) errors?", log)
    if not summary:
        raise Problem("compute-sanitizer wrote no summary")
    if any(count != "0" for count in summary):
        raise Problem(f"compute-sanitizer counted {max(map(int, summary))} errors")
    return "0 errors; " + googletest(folder)


def kernels(folder):
    """Rows with times in ncu's CSV."""
    path = folder / "ncu.csv"
    count = path.read_text(errors="replace").count("gpu__time_duration") if path.exists() else 0
    if count == 0:
        raise Problem("ncu timed nothing")
    return f"{count} kernels or graphs timed"
