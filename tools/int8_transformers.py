#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""int8 against float32 of three transformers in ONNX Runtime and OpenVINO: a BERT folder, an encoder of operator set 12, a decoder of 17.

usage: tools/int8_transformers.py [--repetitions 10] [--iterations 60] [--threads 1] [--layers 4] [--width 256] [--exported] [--out FILE.md]

With --exported two others, which needs PyTorch, transformers, onnx and onnxscript: BERT by torch.export, DistilBERT by TorchScript.

Each row is one `paceline infer --precision fp32,int8` with interleaved processes: the ratio is that of the run, with its interval.
Weights are random and seeded; calibration and check use different random ids, and the answers are compared with the fp32 run.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "cli"))
import transformer_files  # noqa: E402


def models(folder, size):
    transformer_files.write_bert_folder(folder / "bert", size)
    transformer_files.write_encoder(folder / "encoder12.onnx", size)
    transformer_files.write_decoder(folder / "decoder17.onnx", size)
    ids = ("--calib-data", "ids:calibration.npy", "--load-inputs", "ids:ids.npy")
    return {"BERT folder": ("bert", "--sequence-length", str(size.tokens)), "encoder, operator set 12": ("encoder12.onnx", *ids),
            "decoder, operator set 17": ("decoder17.onnx", *ids)}


def exported(folder, size):
    """Two encoders with a mask, as their own libraries export them."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, DistilBertConfig, DistilBertForSequenceClassification

    class Logits(torch.nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model.eval()

        def forward(self, ids, mask):
            return self.model(input_ids=ids, attention_mask=mask).logits

    def write(model, file, **how):
        example = (torch.randint(0, size.words, (2, size.tokens)), torch.ones(2, size.tokens, dtype=torch.long))
        torch.onnx.export(Logits(model), example, folder / file, input_names=["ids", "mask"], output_names=["logits"], opset_version=18, **how)

    torch.manual_seed(0)
    bert = BertConfig(vocab_size=size.words, hidden_size=size.width, num_hidden_layers=size.layers, num_attention_heads=size.heads,
                      intermediate_size=4 * size.width, num_labels=size.labels)
    distil = DistilBertConfig(vocab_size=size.words, dim=size.width, n_layers=size.layers, n_heads=size.heads, hidden_dim=4 * size.width,
                              num_labels=size.labels)
    write(BertForSequenceClassification(bert), "bert.onnx", dynamo=True, dynamic_shapes=({0: torch.export.Dim.DYNAMIC},) * 2)
    write(DistilBertForSequenceClassification(distil), "distilbert.onnx", dynamo=False, dynamic_axes={"ids": {0: "batch"}, "mask": {0: "batch"}})
    transformer_files.write_mask(folder / "mask.npy", size, 64)
    transformer_files.write_mask(folder / "calibration_mask.npy", size, 32)
    both = ("--calib-data", "ids:calibration.npy,mask:calibration_mask.npy", "--load-inputs", "ids:ids.npy,mask:mask.npy")
    return {"BERT by torch.export": ("bert.onnx", *both), "DistilBERT by TorchScript": ("distilbert.onnx", *both)}


def cases(args, folder, engine, model, more):
    command = [args.paceline, "infer", "--model", model, "--engine", engine, "--precision", "fp32,int8", "--threads", str(args.threads),
               "--warmup", "5", "--iterations", str(args.iterations), "--repetitions", str(args.repetitions), "--idle-wait-s", "0",
               "--no-measure-peak", "--allow-noisy", "--json", *more]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if not done.stdout:
        raise SystemExit(f"{' '.join(command)} failed ({done.returncode}):\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)["cases"]


def row(name, engine, fp32, int8):
    if int8["outcome"] != "ok":
        return f"| {name} | {engine} | | | {int8['reason']} | | |"
    share = {e["precision"]: e["flops_share"] for e in int8["precision"]["executed"]}["int8"]
    ratio = int8["speedup"]["ratio"]
    size = f"{ratio['value']:.2f} ({ratio['ci_low']:.2f}–{ratio['ci_high']:.2f})" if ratio["value"] and ratio["ci_low"] else f"no size: {int8['speedup']['reason']}"
    p50 = [f"{case['headline']['p50_ns']['value'] / 1e6:.2f}" for case in (fp32, int8)]
    cosine = int8["correctness"]["centred_cosine"] or min(o["centred_cosine"] for o in int8["correctness"]["outputs"])
    return (f"| {name} | {engine} | {p50[0]} | {p50[1]} | {size} | {100 * share:.0f} % | "
            f"{cosine:.4f} | {int8['correctness']['verdict']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("repetitions", 10), ("iterations", 60), ("threads", 1), ("layers", 4), ("width", 256), ("tokens", 64)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--paceline", default=os.environ.get("PACELINE", str(ROOT / "build/release/bin/paceline")))
    parser.add_argument("--exported", action="store_true", help="two that PyTorch exports instead")
    parser.add_argument("--out")
    args = parser.parse_args()
    size = transformer_files.Size(layers=args.layers, width=args.width, heads=args.width // 32, words=1000, tokens=args.tokens, labels=100)
    lines = ["| | engine | fp32, ms | int8, ms | times as fast | FLOPs in int8 | centred cosine | outputs |", "|---|---|--:|--:|---|--:|--:|---|"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for name, rows, seed in (("calibration", 32, 2), ("ids", 64, 3)):
            transformer_files.write_ids(folder / f"{name}.npy", size, rows, seed)
        for title, (model, *more) in (exported if args.exported else models)(folder, size).items():
            for engine in ("onnxruntime", "openvino"):
                lines.append(row(title, engine, *cases(args, folder, engine, model, more)))
                print(lines[-1], file=sys.stderr, flush=True)
    text = "\n".join(lines) + "\n"
    if args.out:
        pathlib.Path(args.out).write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
