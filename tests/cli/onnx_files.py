# SPDX-License-Identifier: MIT
"""Writes small ONNX files without the onnx package. A model is bytes: model([node("Relu", ["x"], ["y"])])."""

import struct

FLOAT, UINT8, INT8, INT32, INT64, BOOL, FLOAT64, INT4 = 1, 2, 3, 6, 7, 9, 11, 22


def varint(value):
    out, value = bytearray(), value & 0xFFFFFFFFFFFFFFFF  # negative numbers are written in 64 bits
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def attribute(name, content):
    """AttributeProto: name 1, f 2, i 3, s 4, g 6, ints 8, type 20 (float 1, integer 2, text 3, graph 5, integers 7)."""
    if isinstance(content, bytes):
        return block(1, name) + block(6, content) + number(20, 5)
    if isinstance(content, float):
        return block(1, name) + varint(2 << 3 | 5) + struct.pack("<f", content) + number(20, 1)
    if isinstance(content, str):
        return block(1, name) + block(4, content) + number(20, 3)
    if isinstance(content, (list, tuple)):
        return block(1, name) + b"".join(number(8, v) for v in content) + number(20, 7)
    return block(1, name) + number(3, content) + number(20, 2)


def node(op, inputs, outputs, domain="", name="", **attributes):
    """NodeProto: input 1, output 2, name 3, op_type 4, attribute 5, domain 7."""
    return (b"".join(block(1, name) for name in inputs) + b"".join(block(2, name) for name in outputs)
            + block(3, name or op.lower()) + block(4, op) + b"".join(block(5, attribute(*pair)) for pair in attributes.items())
            + (block(7, domain) if domain else b""))


def value(name, shape, kind=FLOAT):
    """ValueInfoProto: dimensions that are words are open."""
    sizes = b"".join(block(1, block(2, d) if isinstance(d, str) else number(1, d)) for d in shape)
    return block(1, name) + block(2, block(1, number(1, kind) + block(2, sizes)))


def weights(name, shape, values):
    """TensorProto: dims 1, data_type 2, name 8, raw_data 9."""
    return (b"".join(number(1, d) for d in shape) + number(2, FLOAT) + block(8, name)
            + block(9, struct.pack(f"<{len(values)}f", *values)))


def typed_weights(name, shape, values, kind, code):
    """Values of another type, given with struct's letter for it."""
    return (b"".join(number(1, d) for d in shape) + number(2, kind) + block(8, name)
            + block(9, struct.pack(f"<{len(values)}{code}", *values)))


def external_weights(name, shape, location):
    """Its values lie in another file: external_data 13 (key 1, value 2), data_location 14."""
    return (b"".join(number(1, d) for d in shape) + number(2, FLOAT) + block(8, name)
            + block(13, block(1, "location") + block(2, location)) + number(14, 1))


def graph(nodes, inputs, outputs):
    """A branch or the body of a loop, as an attribute of its node."""
    return (b"".join(block(1, n) for n in nodes) + block(2, "g") + b"".join(block(11, value(*i)) for i in inputs)
            + b"".join(block(12, value(*o)) for o in outputs))


def function(name, inputs, outputs, nodes, domain="pkg", opset=17):
    """FunctionProto: name 1, input 4, output 5, node 7, opset_import 9, domain 10."""
    return (block(1, name) + b"".join(block(4, i) for i in inputs) + b"".join(block(5, o) for o in outputs)
            + b"".join(block(7, n) for n in nodes) + block(9, number(2, opset)) + block(10, domain))


def model(nodes, inputs=(("x", ("N", 4)),), outputs=(("y", ("N", 4)),), tensors=(), opset=17, version=8, domains=(), functions=()):
    """ModelProto: ir_version 1, graph 7, opset_import 8 (domain 1, version 2), functions 25. GraphProto: node 1, name 2, initializer 5, input 11, output 12."""
    graph = (b"".join(block(1, n) for n in nodes) + block(2, "g") + b"".join(block(5, t) for t in tensors)
             + b"".join(block(11, value(*i)) for i in inputs) + b"".join(block(12, value(*o)) for o in outputs))
    others = b"".join(block(8, block(1, d) + number(2, 1)) for d in domains) + b"".join(block(25, f) for f in functions)
    return number(1, version) + block(7, graph) + block(8, number(2, opset)) + others


def linear(opset=17, version=8, tensor=None, name="x"):
    """The input [N,4], times a fixed 4x4 matrix -> y [N,4]."""
    matrix = tensor or weights("w", (4, 4), [0.1 * i - 0.7 for i in range(16)])
    return model([node("MatMul", [name, "w"], ["y"])], inputs=[(name, ("N", 4))], tensors=[matrix], opset=opset, version=version)
