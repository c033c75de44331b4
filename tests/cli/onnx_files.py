# SPDX-License-Identifier: MIT
"""Writes small ONNX files without the onnx package. A model is bytes: model([node("Relu", ["x"], ["y"])])."""

import struct

FLOAT, INT64 = 1, 7


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def node(op, inputs, outputs, domain=""):
    """NodeProto: input 1, output 2, name 3, op_type 4, domain 7."""
    return (b"".join(block(1, name) for name in inputs) + b"".join(block(2, name) for name in outputs)
            + block(3, op.lower()) + block(4, op) + (block(7, domain) if domain else b""))


def value(name, shape, kind=FLOAT):
    """ValueInfoProto: dimensions that are words are open."""
    sizes = b"".join(block(1, block(2, d) if isinstance(d, str) else number(1, d)) for d in shape)
    return block(1, name) + block(2, block(1, number(1, kind) + block(2, sizes)))


def weights(name, shape, values):
    """TensorProto: dims 1, data_type 2, name 8, raw_data 9."""
    return (b"".join(number(1, d) for d in shape) + number(2, FLOAT) + block(8, name)
            + block(9, struct.pack(f"<{len(values)}f", *values)))


def external_weights(name, shape, location):
    """Its values lie in another file: external_data 13 (key 1, value 2), data_location 14."""
    return (b"".join(number(1, d) for d in shape) + number(2, FLOAT) + block(8, name)
            + block(13, block(1, "location") + block(2, location)) + number(14, 1))


def model(nodes, inputs=(("x", ("N", 4)),), outputs=(("y", ("N", 4)),), tensors=(), opset=17, version=8):
    """ModelProto: ir_version 1, graph 7, opset_import 8. GraphProto: node 1, name 2, initializer 5, input 11, output 12."""
    graph = (b"".join(block(1, n) for n in nodes) + block(2, "g") + b"".join(block(5, t) for t in tensors)
             + b"".join(block(11, value(*i)) for i in inputs) + b"".join(block(12, value(*o)) for o in outputs))
    return number(1, version) + block(7, graph) + block(8, number(2, opset))


def linear(opset=17, version=8, tensor=None):
    """x [N,4] -> x times a fixed 4x4 matrix -> y [N,4]."""
    matrix = tensor or weights("w", (4, 4), [0.1 * i - 0.7 for i in range(16)])
    return model([node("MatMul", ["x", "w"], ["y"])], tensors=[matrix], opset=opset, version=version)
