#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Models as people export them through `paceline infer --model FILE`, on every engine that reads them, against the engine's own Python.

usage: VENV/bin/python tools/model_survey.py exported [--folder models] [--paceline build/release/bin/paceline] [--only WORD] [--docs docs/models.md]
       VENV/bin/python tools/model_survey.py onnx-tests [--sample 150] [--seed 1] [--folder FOLDER] [--paceline …] [--docs docs/models.md]

exported:   the models of tools/exported_models.py. The command is run as a newcomer types it; where Paceline asks for something and shows an
            option to copy, that option is copied. What --dump-outputs wrote is then computed again by the engine's own Python, that of
            Hugging Face folders by transformers.
onnx-tests: a seeded sample of the models of onnx.backend.test, each with the inputs and expected outputs that come with it, on ONNX Runtime.
            Models agree, or differ in ONNX Runtime's Python as well, or are refused by both, or by a rule of Paceline; all else is wrong.
--docs writes the findings between the marks of that page. The exit code is 1 where outputs are wrong or Paceline crashed.
"""
import argparse
import collections
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUICK = ["--device", "cpu", "--iterations", "5", "--repetitions", "1", "--accuracy-samples", "1", "--idle-wait-s", "0", "--no-measure-peak", "--quiet"]
FOLDER = ""  # the suffix of a Hugging Face folder
ENGINES = {FOLDER: ["eager", "torchscript", "onnxruntime", "openvino"], ".onnx": ["onnxruntime", "openvino"], ".xml": ["openvino"], ".ts": ["eager", "torchscript"], ".pt": ["eager", "torchscript"]}
TOLERANCE = {"float16": 5e-3}
DEFAULT_TOLERANCE = 1e-4
EXPECTED_TOLERANCE = 1e-3  # that of the package's own runner is 1e-3 of each element
MEASURED = (0, 4)  # 4: measured on a machine that was too busy for latency claims
NEWEST_IR = 13  # what ONNX Runtime reads; the package of the tests writes a newer one


def by_onnxruntime(file, inputs):
    import onnxruntime
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))


def by_openvino(file, inputs):
    import openvino
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(str(file)), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    found = compiled(inputs)
    return {(min(o.get_names()) if o.get_names() else f"output{i}"): found[o] for i, o in enumerate(compiled.outputs)}


def by_torchscript(file, inputs):
    import torch
    with torch.no_grad():
        found = torch.jit.load(str(file))(*[torch.from_numpy(v) for v in inputs.values()])
    return {f"output{i}": v.numpy() for i, v in enumerate(found if isinstance(found, (tuple, list)) else [found])}


def by_transformers(folder, inputs):
    import json
    import torch
    import transformers
    name = json.loads((folder / "config.json").read_text())["architectures"][0]
    model = getattr(transformers, name).from_pretrained(folder).eval()
    with torch.no_grad():
        found = model(**{n: torch.from_numpy(v) for n, v in inputs.items()})
    return {"output": (found.logits if "logits" in found else found.last_hidden_state).numpy()}


OWN = {"onnxruntime": by_onnxruntime, "openvino": by_openvino, "eager": by_torchscript, "torchscript": by_torchscript}


def largest_error(ours, theirs):
    """max|a-b|/max|b| over all outputs in their order; infinite where shapes or the number of outputs differ."""
    if len(ours) != len(theirs):
        return float("inf")
    worst = 0.0
    for a, b in zip(ours.values(), theirs.values()):
        b = np.asarray(b)
        if a.shape != b.shape:
            return float("inf")
        if a.size:
            a, b = a.astype(np.float64), b.astype(np.float64)
            if (np.isnan(a) != np.isnan(b)).any():
                return float("inf")
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            scale = np.abs(b[np.isfinite(b)]).max(initial=0.0) or 1.0
            worst = max(worst, float(np.where(same, 0.0, np.abs(a - b)).max() / scale))
    return worst


def run(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def type_as_newcomer(command):
    """Exit code, text and the options copied from what Paceline said: at most twice."""
    copied = []
    for _ in range(3):
        code, text = run(command + copied)
        asked = re.search(r"(--shapes '[^']+'|--input-values \S+)", text)
        if code != 2 or not asked or asked.group(1) in " ".join(copied):
            break
        copied += shlex.split(asked.group(1))
    return code, text, copied


def survey_one(args, file, engine, options):
    out = args.folder / "runs" / f"{file.stem}-{engine}"
    shutil.rmtree(out, ignore_errors=True)
    command = [args.paceline, "infer", "--model", file, *options]
    if engine != ENGINES[file.suffix][0]:
        command += ["--engine", engine]
    code, text, copied = type_as_newcomer(command + QUICK + ["-o", out, "--dump-outputs", out / "dump"])
    row = {"engine": engine, "options": options + copied, "code": code, "text": text, "error": None}
    dumps = sorted((out / "dump").glob("*/outputs-0.npz")) if (out / "dump").exists() else []
    if dumps:
        inputs = dict(np.load(dumps[0].with_name("inputs-0.npz")))
        own = by_transformers if file.suffix == FOLDER else OWN[engine]
        row["error"] = largest_error(dict(np.load(dumps[0])), own(file, inputs))
        row["half"] = any(v.dtype == np.float16 for v in inputs.values())
    return row


def reason_of(text, folder):
    """The line with the reason, without the paths of this machine."""
    said = [line for line in text.splitlines() if "failed:" in line or "paceline:" in line or "skipped:" in line]
    lines = [line for line in said if line.startswith("!")] or said  # the findings break theirs
    reason = (lines or text.strip().splitlines() or ["no word"])[0].lstrip("! ")
    return reason.replace(f"{folder}/", "").replace("|", "\\|")


def verdict(row, folder):
    if row["error"] is not None:
        limit = TOLERANCE["float16"] if row["half"] else DEFAULT_TOLERANCE
        return "equal" if row["error"] <= limit and row["code"] in MEASURED else "wrong"
    return f"refused: {reason_of(row['text'], folder)}" if row["code"] in (2, 77) else f"wrong: exit {row['code']}"


def exported(args):
    import exported_models
    bad = False
    lines = ["| model | file | options beside `--model FILE` | largest error per engine |", "|---|---|---|---|"]
    for what, file, options in exported_models.make(args.folder):
        if args.only and args.only not in file.name:
            continue
        results = {}  # by the options that were needed
        for engine in ENGINES[file.suffix]:
            row = survey_one(args, file, engine, options)
            copied = " ".join(shlex.quote(o) if o.startswith("-") else f"'{o}'" for o in row["options"])
            error = "" if row["error"] is None else f"{row['error']:.1e}"
            found = verdict(row, args.folder)
            bad |= found.startswith("wrong")
            print(f"| {what} | `{file.name}` | {engine} | {copied} | {found} | {error} |", flush=True)
            results.setdefault(copied, []).append(" ".join(filter(None, [engine, "" if found == "equal" else found, error])))
        lines += [f"| {what} | `{file.name}` | {f'`{copied}`' if copied else ''} | {', '.join(cells)} |" for copied, cells in results.items()]
    return lines, bad


def read_tensor(file):
    import onnx
    tensor = onnx.TensorProto()
    tensor.ParseFromString(file.read_bytes())
    return onnx.numpy_helper.to_array(tensor)


def stored_cases():
    """(name, model, inputs, outputs) of the models that the package contains as files; a value that is no tensor is None."""
    import onnx
    import onnx.backend.test
    root = pathlib.Path(onnx.backend.test.__file__).parent / "data"
    for file in sorted(root.glob("*/*/model.onnx")):
        model, data = onnx.load(file), file.parent / "test_data_set_0"
        values = {}
        for kind, infos in (("input", model.graph.input), ("output", model.graph.output)):
            for i, info in enumerate(infos):
                if (data / f"{kind}_{i}.pb").exists():
                    values[kind, info.name] = read_tensor(data / f"{kind}_{i}.pb") if info.type.HasField("tensor_type") else None
        yield file.parent.name, model, *({n: v for (k, n), v in values.items() if k == kind} for kind in ("input", "output"))


def made_cases():
    """Yields the models that the package makes, one or more per operator."""
    from onnx.backend.test.case.node import collect_testcases
    for case in collect_testcases(None):
        inputs, outputs = case.data_sets[0]
        graph = case.model.graph
        as_array = [{info.name: np.asarray(v) if isinstance(v, (np.ndarray, np.generic)) else None for info, v in zip(infos, values)}
                    for infos, values in ((graph.input, inputs), (graph.output, outputs))]
        yield case.name, case.model, *as_array


def own_refusal(file, inputs):
    """The message of ONNX Runtime's Python if it does not run the model either."""
    try:
        by_onnxruntime(file, inputs)
    except Exception as e:  # noqa: BLE001: the library's own reason, whatever its type
        return str(e).splitlines()[0][:160]
    return None


def shapes_text(inputs):
    words = {"float32": ""}
    return ",".join(f"{n}:{'x'.join(map(str, v.shape)) or 'scalar'}{words.get(str(v.dtype), ':' + str(v.dtype))}" for n, v in inputs.items())


def run_case(args, work, inputs):
    """Exit code and text; the model is in `work`, inputs that are tensors are given."""
    command = [args.paceline, "infer", "--model", work / "model.onnx", *QUICK, "-o", work / "run", "--dump-outputs", work / "dump"]
    loads = []
    for i, (name, value) in enumerate(inputs.items()):
        if value is not None and value.dtype.kind in "biuf":
            np.save(work / f"{i}.npy", value)
            loads.append(f"{name}:{work / f'{i}.npy'}")
    if loads and len(loads) == len(inputs):
        command += ["--load-inputs", ",".join(loads)]
    code, text = run(command)
    if code == 2 and "--shapes '" in text and len(loads) == len(inputs):
        code, text = run(command + ["--shapes", shapes_text(inputs)])
    (work / "said.txt").write_text(" ".join(map(str, command)) + f"\nexit {code}\n{text}")
    return code, text


def judge_case(args, name, model, inputs, outputs):
    """(class, reason) of one model."""
    import onnx
    work = args.folder / "onnx-tests" / name
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    model.ir_version = min(model.ir_version, NEWEST_IR)
    onnx.save(model, work / "model.onnx")
    code, text = run_case(args, work, inputs)
    reason = reason_of(text, work)
    dumps = sorted((work / "dump").glob("*/outputs-0.npz")) if (work / "dump").exists() else []
    if code < 0 or code == 5 or code > 77:
        return "crashed", f"exit {code}: {reason}"
    own = own_refusal(work / "model.onnx", inputs)
    if dumps and inputs and all(v is not None for v in outputs.values()):
        if largest_error(dict(np.load(dumps[0])), outputs) <= EXPECTED_TOLERANCE:
            return "agree", ""
        theirs = None if own else largest_error(by_onnxruntime(work / "model.onnx", inputs), outputs)
        return ("differ in ONNX Runtime's Python as well", "") if theirs and theirs > EXPECTED_TOLERANCE else ("wrong", "outputs differ")
    return ("refused by both", own) if own else ("refused by Paceline alone", reason)


def onnx_tests(args):
    cases = sorted([*stored_cases(), *made_cases()], key=lambda case: case[0])
    total = len(cases)
    random.Random(args.seed).shuffle(cases)
    found = collections.defaultdict(list)
    for case in cases[:args.sample]:
        kind, reason = judge_case(args, *case)
        found[kind].append((case[0], reason))
        print(f"{kind}: {case[0]} {reason}", flush=True)
    lines = [f"{sum(map(len, found.values()))} models of {total}, seed {args.seed}: " + ", ".join(f"{len(v)} {k}" for k, v in sorted(found.items())) + "."]
    print(lines[0])
    alone = found["refused by Paceline alone"]
    if alone:
        lines += ["", "| refused by Paceline alone | reason |", "|---|---|", *(f"| {name} | {reason} |" for name, reason in alone)]
    return lines, bool(found["wrong"] or found["crashed"])


def write_between_marks(page, mark, lines):
    """Replaces the text between the two comments with the mark."""
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    before, rest = page.read_text(encoding="utf-8").split(begin)
    page.write_text(before + begin + "\n" + "\n".join(lines) + "\n" + end + rest.split(end)[1], encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["exported", "onnx-tests"])
    parser.add_argument("--folder", type=lambda f: pathlib.Path(f).resolve(), default=pathlib.Path("models").resolve())
    parser.add_argument("--paceline", type=lambda f: pathlib.Path(f).resolve(), default=ROOT / "build/release/bin/paceline")
    parser.add_argument("--only")
    parser.add_argument("--sample", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--docs", type=pathlib.Path)
    args = parser.parse_args()
    lines, bad = exported(args) if args.what == "exported" else onnx_tests(args)
    if args.docs:
        write_between_marks(args.docs, args.what, lines)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
