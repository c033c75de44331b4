#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does `paceline tune` find what measuring every arm in full finds, and in how much of its time? Searches and exhaustive runs of the same arms.

usage: VENV/bin/python tools/tune_study.py models FOLDER
       tools/tune_study.py run FOLDER --keep FILE [--only cnn-latency,…] [--within SECONDS] [--paceline build/release/bin/paceline]
       tools/tune_study.py rows --keep FILE

models: writes a CNN (MobileNetV3), a transformer (BERT of two layers) and a tree ensemble into FOLDER. Needs torchvision, transformers, skl2onnx.
run:    one search per row of CASES, then its plan in full: all arms, ten processes each (as many as the search has at most), each as long as `infer`
        measures where nothing is typed.
rows:   Markdown. "Above the best": median over rounds of what the arm that the search took costs in the exhaustive run, over the best arm there.
        "Looks": processes of the search; on the exhaustive run's table those that Paceline's rule needs (target replay_search), and one race of
        irace 3.5 with its t-test (Debian: r-cran-irace; without it, or with one arm that runs, "–").
`--within` starts no search after that time, and `--keep` adds to its file: a long study is many short slices.
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
CASES = {  # name: model, objective, further words of the search
    "cnn-latency": ("cnn", "latency", ()),
    "cnn-throughput": ("cnn", "throughput", ()),
    "cnn-memory": ("cnn", "memory", ()),
    "cnn-batch8": ("cnn", "latency", ("--batch", "8")),
    "transformer-latency": ("transformer", "latency", ()),
    "transformer-throughput": ("transformer", "throughput", ()),
    "transformer-memory": ("transformer", "memory", ()),
    "trees-latency": ("trees", "latency", ()),
    "trees-throughput": ("trees", "throughput", ()),
    "trees-batch256": ("trees", "latency", ("--batch", "256")),
}
REPLAY = ROOT / "build/release/tests/replay_search"
ROUNDS = 10
FULL = ("--warmup.min_time_s=0.5", "--warmup.max_time_s=5", "--stop.t_min_s=1", "--stop.t_max_s=3", "--stop.rel_halfwidth_p50=0.01")
IRACE = """
suppressMessages(library(irace))
table <- as.matrix(read.csv(file("stdin"), header=FALSE)); arms <- nrow(table); looks <- 0
runner <- function(experiment, scenario) {
  looks <<- looks + 1
  list(cost=table[as.integer(experiment$configuration[["arm"]]), as.integer(experiment$id.instance)])
}
file <- tempfile(); write.table(data.frame(arm=1:arms), file, row.names=FALSE)
scenario <- list(targetRunner=runner, instances=1:ncol(table), sampleInstances=FALSE, maxExperiments=max(length(table), 200), nbIterations=1,
  nbConfigurations=arms, minNbSurvival=1, firstTest=5, testType="t-test", deterministic=TRUE, configurationsFile=file, logFile="", elitist=0, seed=1)
parameters <- readParameters(text=paste0('arm "" c (', paste(1:arms, collapse=","), ')'))
sink("/dev/null"); suppressWarnings(irace(scenario=checkScenario(scenario), parameters=parameters)); sink()
cat(looks)
"""


def write_models(folder):
    import numpy as np
    import torch
    import torchvision
    from skl2onnx import to_onnx
    from sklearn.ensemble import GradientBoostingClassifier
    from transformers import BertConfig, BertModel
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    net = torchvision.models.mobilenet_v3_small(weights=None).eval()
    torch.onnx.export(net, (torch.randn(1, 3, 224, 224),), folder / "cnn.onnx", input_names=["x"], dynamic_axes={"x": {0: "N"}}, dynamo=False)
    bert = BertModel(BertConfig(hidden_size=256, num_hidden_layers=2, num_attention_heads=4, intermediate_size=1024), add_pooling_layer=False)

    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = bert

        def forward(self, ids):
            return self.bert(input_ids=ids).last_hidden_state
    ids = torch.randint(1, 1000, (1, 64))
    torch.onnx.export(Encoder().eval(), (ids,), folder / "transformer.onnx", input_names=["input_ids"], dynamic_axes={"input_ids": {0: "N"}}, dynamo=False)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 30)).astype(np.float32)
    trees = GradientBoostingClassifier(n_estimators=200, max_depth=5).fit(x, (x[:, 0] * x[:, 1] > 0).astype(int))
    (folder / "trees.onnx").write_bytes(to_onnx(trees, x[:1], options={"zipmap": False}).SerializeToString())


def run_json(command, folder):
    """Seconds and answer of a command; one that leaves a question open has an answer, too."""
    begin = time.monotonic()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=folder)
    if done.returncode not in (0, 1, 3, 4, 5):
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr}")
    return time.monotonic() - begin, json.loads(done.stdout)


def cost(case, repetition, objective):
    """Figure of one process; lower is better."""
    if objective == "memory":
        return repetition["memory"]["rss_peak_above_load_bytes"]
    return repetition["p50_ns"] if objective == "latency" else repetition["mean_ns"] / case["benchmark"]["batch_per_rank"]


def table_of(summary, objective):
    """Costs of each arm by round; null where it has none."""
    table = {}
    for case in summary["cases"]:
        rounds = {r["index"]: cost(case, r, objective) for r in case["repetitions"]}
        table[case["case_id"]] = [rounds.get(i) for i in range(ROUNDS)]
    return table


def measure(args, name, folder):
    model, objective, words = CASES[name]
    file = args.folder.resolve() / f"{model}.onnx"
    tuned, found = run_json([args.paceline, "tune", "--model", file, "--objective", objective, *words, "--budget", "15m", "--allow-noisy", "--json", "-q"], folder)
    plan = next(folder.glob("results/tune/*/plan.yaml"))
    full, summary = run_json([args.paceline, "run", plan, *FULL, "--output-dir", "full", "--allow-noisy", "--json", "-q"], folder)
    arms = {arm["case_id"]: {"fate": arm["fate"], "rounds": arm["rounds"]} for arm in found["arms"]}
    return {"name": name, "tune_s": tuned, "full_s": full, "took": found["arm"], "equals": found["equals"], "found": found["found"], "arms": arms,
            "table": table_of(summary, objective)}


def log_ratios(mine, theirs):
    return [math.log(a / b) for a, b in zip(mine, theirs) if a and b]


def replayed(command, table):
    """First word that a replay prints; "–" without its program."""
    text = "".join(",".join(str(cost) for cost in costs) + "\n" for costs in table.values() if all(costs))
    try:
        looks = subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True, check=True).stdout.split()[0]
        return looks if looks != "0" else "–"
    except (OSError, subprocess.CalledProcessError):
        return "–"


def rows(found):
    print("| search | arms | took | above the best of all | time, of the exhaustive run's | looks | replayed | irace |")
    print("|---|---|---|---|---|---|---|---|")
    for one in found:
        table = one["table"]
        best = min(table, key=lambda arm: statistics.median(c for c in table[arm] if c) if any(table[arm]) else math.inf)
        above = math.expm1(statistics.median(log_ratios(table[one["took"]], table[best]))) if one["took"] else math.inf
        looks = sum(arm["rounds"] for arm in one["arms"].values())
        print(f"| {one['name']} | {len(table)} | {one['took']} | {above:.1%} | {one['tune_s']:.0f} s of {one['full_s']:.0f} s: {one['tune_s'] / one['full_s']:.0%} "
              f"| {looks} | {replayed([REPLAY], table)} | {replayed(['Rscript', '-e', IRACE], table)} |".replace("%", " %"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["models", "run", "rows"])
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--only", default=",".join(CASES))
    parser.add_argument("--within", type=float, default=math.inf)
    parser.add_argument("--paceline", type=lambda name: pathlib.Path(name).resolve(), default=ROOT / "build/release/bin/paceline")
    args = parser.parse_args()
    if args.what == "models":
        return write_models(args.folder)
    found = [json.loads(line) for line in args.keep.read_text().splitlines()] if args.keep.exists() else []
    begin = time.monotonic()
    for name in args.only.split(",") if args.what == "run" else ():
        if time.monotonic() - begin > args.within or any(one["name"] == name for one in found):
            continue
        with tempfile.TemporaryDirectory() as folder:
            found.append(measure(args, name, pathlib.Path(folder)))
        with args.keep.open("a") as out:
            out.write(json.dumps(found[-1]) + "\n")
        print(f"{name}: {found[-1]['tune_s']:.0f} s, {found[-1]['full_s']:.0f} s", file=sys.stderr, flush=True)
    rows(found)


if __name__ == "__main__":
    sys.exit(main())
