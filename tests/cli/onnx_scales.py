# SPDX-License-Identifier: MIT
"""Damages a quantised ONNX file: multiplies the scales of its weights, in place, without the onnx package.

usage: onnx_scales.py IN.onnx OUT.onnx FACTOR
"""
import struct
import sys

# Field numbers of onnx.proto: ModelProto.graph, GraphProto.initializer, TensorProto.name and .raw_data.
GRAPH, INITIALIZER, NAME, RAW_DATA = 7, 5, 8, 9


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data, begin, end):
    """(number, begin, end) of each length-delimited field of a message."""
    at = begin
    while at < end:
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            _, at = varint(data, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            size, at = varint(data, at)
            yield key >> 3, at, at + size
            at += size


def scale_weights(data, factor):
    """Multiplies every scale with more than one number, which are those of weights and biases; returns how many tensors."""
    changed = 0
    for number, begin, end in list(fields(data, 0, len(data))):
        if number != GRAPH:
            continue
        for kind, first, last in fields(data, begin, end):
            if kind != INITIALIZER:
                continue
            parts = {n: (a, b) for n, a, b in fields(data, first, last)}
            name = bytes(data[slice(*parts[NAME])]).decode()
            a, b = parts.get(RAW_DATA, (0, 0))
            if not name.endswith("/scale") or b - a <= 4:
                continue
            count = (b - a) // 4
            values = struct.unpack(f"<{count}f", data[a:b])
            data[a:b] = struct.pack(f"<{count}f", *(v * factor for v in values))
            changed += 1
    return changed


def main(source, target, factor):
    with open(source, "rb") as file:
        data = bytearray(file.read())
    changed = scale_weights(data, float(factor))
    with open(target, "wb") as file:
        file.write(data)
    return changed


if __name__ == "__main__":
    print(main(*sys.argv[1:4]), "tensors")
