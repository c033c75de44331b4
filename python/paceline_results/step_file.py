# SPDX-License-Identifier: MIT
"""Reads step files (passes/timed-<repetition>.steps.bin). Their format is in docs/results.md."""

import json
import struct
import zlib

import numpy as np
import pandas as pd

from paceline_results.regular import read_bytes, refused

MAGIC, VERSION, END = b"PACESTEP", 1, 0xFFFFFFFF
PHASES = ["warmup", "timed", "after"]
NO_NUMBER = np.iinfo(np.int64).min


def read_step_file(file):
    """Every step of every rank of one repetition. Raises ValueError for a file that is cut short, damaged, or of another format."""
    content = read_bytes(file)
    with refused(f"the step file '{file}' cannot be read"):
        return _frame(content)


def _frame(content):
    header, at = _header(content)
    row = np.dtype([(name, "<" + kind) for name, kind in header["columns"]])
    parts, ranks = [], []
    while True:
        rank, count = struct.unpack_from("<II", content, at)
        if rank == END:
            break
        parts.append(np.frombuffer(content, row, count, at + 8))
        ranks.append(np.full(count, rank))
        at += 8 + count * row.itemsize
    if count != zlib.crc32(content[:at]):
        raise ValueError("it was changed after it was written")
    frame = pd.DataFrame(np.concatenate(parts) if parts else np.empty(0, row))
    if len(frame) != sum(rank["steps"] for rank in header["ranks"]):
        raise ValueError("it lacks steps that it announces")
    return _tidy(frame, header, np.concatenate(ranks) if ranks else [])


def _header(content):
    if content[:8] != MAGIC:
        raise ValueError("it is no step file")
    version, size = struct.unpack_from("<II", content, 8)
    if version != VERSION:
        raise ValueError(f"it is of version {version}; this package reads {VERSION}")
    return json.loads(content[16:16 + size]), 16 + size


def _tidy(frame, header, ranks):
    frame.insert(0, "repetition", header["repetition"])
    frame.insert(1, "rank", ranks)
    frame["phase"] = pd.Categorical.from_codes(frame["phase"], PHASES).astype(str)
    frame["skipped"] = frame["skipped"].astype(bool)
    for name in frame.columns:
        if name.startswith("bucket") and name != "buckets":
            frame[name] = frame[name].where(frame[name] != NO_NUMBER)
    if header["interrupted"]:
        frame["interrupted"] = True
    return frame.sort_values(["rank", "step"], kind="stable").reset_index(drop=True)
