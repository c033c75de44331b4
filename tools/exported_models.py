# SPDX-License-Identifier: MIT
"""Models as people export them, made with the exporters themselves: what tools/model_survey.py runs. Needs PyTorch, torchvision, transformers,
onnx, onnxscript, onnxruntime, skl2onnx, scikit-learn and openvino. Weights are random and seeded; the models are small."""
import warnings

import numpy as np
import onnx
import torch
import torchvision
from onnx import TensorProto, helper
from torch import nn

warnings.filterwarnings("ignore")


def tidy(module):
    torch.manual_seed(0)
    return module.eval()


class SmallConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.Hardswish(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU6(),
                                      nn.AdaptiveAvgPool2d(1))
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        return self.head(torch.flatten(self.features(x), 1))


class StatefulLstm(nn.Module):
    """Audio frames with the state of an LSTM, which has the batch in dimension 1."""
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(40, 64, 2, batch_first=True)
        self.head = nn.Linear(64, 1)

    def forward(self, frames, h, c):
        y, (hn, cn) = self.lstm(frames, (h, c))
        return torch.sigmoid(self.head(y)), hn, cn


class Looped(nn.Module):
    """The number of steps comes in as a scalar."""
    def forward(self, x, steps):
        for _ in range(int(steps)):
            x = torch.tanh(x) + 0.1
        return x


class Branched(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(16, 4), nn.Linear(16, 4)

    def forward(self, x):
        if bool(x.sum() > 0):
            y = self.a(x)
        else:
            y = self.b(x)
        return y


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU())
        self.middle = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Upsample(scale_factor=2, mode="bilinear"))
        self.up = nn.Conv2d(48, 2, 1)

    def forward(self, image):
        fine = self.down(image)
        return self.up(torch.cat([fine, self.middle(fine)], 1))


class Matcher(nn.Module):
    """Two inputs of different sizes, two outputs."""
    def forward(self, query, gallery):
        scores = torch.nn.functional.normalize(query, dim=-1) @ torch.nn.functional.normalize(gallery, dim=-1).T
        return scores, scores.argmax(-1)


def encoder():
    from transformers import BertConfig, BertModel
    return tidy(BertModel(BertConfig(vocab_size=1000, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
                                     attn_implementation="eager")))


class EncoderOutput(nn.Module):
    def __init__(self):
        super().__init__()
        self.bert = encoder()

    def forward(self, input_ids, attention_mask, token_type_ids):
        return self.bert(input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).last_hidden_state


def with_torch(module, inputs, file, *, dynamo=False, opset=17, names=None, dynamic=None, outputs=None):
    """Either exporter of torch.onnx."""
    options = {"input_names": names, "output_names": outputs, "opset_version": opset, "dynamo": dynamo}
    if dynamo:
        torch.onnx.export(module, inputs, str(file), dynamic_shapes=dynamic, external_data=False, verbose=False, **options)
    else:
        torch.onnx.export(module, inputs, str(file), dynamic_axes=dynamic, **options)


def with_helper(file, nodes, inputs, outputs, tensors=(), opset=17, ir=8):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, [onnx.numpy_helper.from_array(v, n) for n, v in tensors])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir)
    onnx.checker.check_model(model)
    onnx.save(model, str(file))


def info(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


IMAGE = torch.zeros(1, 3, 64, 64)


def convnet_old_static(file):
    with_torch(tidy(SmallConvNet()), (IMAGE,), file, opset=9)


def convnet_old_dynamic(file):
    with_torch(tidy(SmallConvNet()), (IMAGE,), file, opset=11, names=["input"], dynamic={"input": {0: "batch"}})


def mobilenet_open_size(file):
    model = tidy(torchvision.models.mobilenet_v3_small())
    with_torch(model, (torch.zeros(1, 3, 96, 96),), file, opset=13, names=["pixels"], dynamic={"pixels": {0: "N", 2: "height", 3: "width"}})


def resnet_dynamo_static(file):
    with_torch(tidy(torchvision.models.resnet18()), (IMAGE,), file, dynamo=True, opset=18)


def vit_dynamo_dynamic(file):
    model = tidy(torchvision.models.VisionTransformer(64, 16, 2, 4, 64, 128, num_classes=10))
    with_torch(model, (torch.zeros(2, 3, 64, 64),), file, dynamo=True, opset=18, names=["x"], dynamic=({0: torch.export.Dim("batch")},))


def tensorflow_style(file):
    """Channels last, names with ':0', as tf2onnx writes them."""
    rng = np.random.default_rng(0)
    with_helper(file, [helper.make_node("Transpose", ["serving_default_image:0"], ["nchw"], perm=[0, 3, 1, 2]),
                       helper.make_node("Conv", ["nchw", "kernel"], ["conv"], strides=[2, 2]), helper.make_node("Relu", ["conv"], ["relu"]),
                       helper.make_node("Transpose", ["relu"], ["StatefulPartitionedCall:0"], perm=[0, 2, 3, 1])],
                [info("serving_default_image:0", ["unk__1", 32, 32, 3])], [info("StatefulPartitionedCall:0", ["unk__2", 15, 15, 8])],
                [("kernel", rng.standard_normal((8, 3, 3, 3)).astype(np.float32))], opset=13)


def scalar_input(file):
    """Voice activity detectors take the sample rate as a scalar."""
    with_helper(file, [helper.make_node("Cast", ["sr"], ["rate"], to=TensorProto.FLOAT), helper.make_node("Div", ["audio", "rate"], ["scaled"]),
                       helper.make_node("ReduceMean", ["scaled"], ["level"], axes=[1])],
                [info("audio", ["batch", 512]), info("sr", [], TensorProto.INT64)], [info("level", ["batch", 1])], opset=16)


def lstm_state(file):
    state = torch.zeros(2, 1, 64)
    with_torch(tidy(StatefulLstm()), (torch.zeros(1, 10, 40), state, state), file, opset=14, names=["frames", "h", "c"], outputs=["speech", "hn", "cn"],
               dynamic={"frames": {0: "batch"}, "h": {1: "batch"}, "c": {1: "batch"}})


def loop(file):
    with_torch(torch.jit.script(Looped()), (torch.zeros(1, 8), torch.tensor(3)), file, opset=13, names=["x", "steps"], dynamic={"x": {0: "batch"}})


def branch(file):
    with_torch(torch.jit.script(tidy(Branched())), (torch.zeros(1, 16),), file, opset=17, names=["x"])


def segmentation(file):
    with_torch(tidy(UNet()), (IMAGE,), file, opset=16, names=["image"], dynamic={"image": {0: "batch"}})


def detector(file):
    """Boxes of all anchors, then NonMaxSuppression: the number of rows depends on the data."""
    rng = np.random.default_rng(0)
    constants = [("w", rng.standard_normal((9, 3, 8, 8)).astype(np.float32) * 0.2), ("boxes_shape", np.array([1, 64, 4], np.int64)),
                 ("scores_shape", np.array([1, 5, 64], np.int64)), ("most", np.array([20], np.int64)), ("iou", np.array([0.5], np.float32)),
                 ("score", np.array([0.2], np.float32))]
    with_helper(file, [helper.make_node("Conv", ["image", "w"], ["maps"], strides=[8, 8]),
                       helper.make_node("Split", ["maps", "parts"], ["box_maps", "score_maps"], axis=1),
                       helper.make_node("Transpose", ["box_maps"], ["box_last"], perm=[0, 2, 3, 1]),
                       helper.make_node("Reshape", ["box_last", "boxes_shape"], ["boxes"]),
                       helper.make_node("Reshape", ["score_maps", "scores_shape"], ["raw"]), helper.make_node("Sigmoid", ["raw"], ["scores"]),
                       helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "iou", "score"], ["kept"])],
                [info("image", [1, 3, 64, 64])], [info("boxes", [1, 64, 4]), info("scores", [1, 5, 64]), info("kept", ["rows", 3], TensorProto.INT64)],
                constants + [("parts", np.array([4, 5], np.int64))], opset=13)


def encoder_three_inputs(file):
    ids = torch.ones(1, 16, dtype=torch.int64)
    axes = {name: {0: "batch", 1: "sequence"} for name in ("input_ids", "attention_mask", "token_type_ids")}
    with_torch(EncoderOutput(), (ids, ids, torch.zeros_like(ids)), file, opset=17, names=list(axes), dynamic=axes)


def two_sizes(file):
    with_torch(Matcher(), (torch.zeros(1, 32), torch.zeros(100, 32)), file, opset=17, names=["query", "gallery"], outputs=["scores", "best"],
               dynamic={"query": {0: "batch"}})


def forest(file):
    from skl2onnx import to_onnx
    from sklearn.ensemble import RandomForestClassifier
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 6)).astype(np.float32)
    onnx.save(to_onnx(RandomForestClassifier(10, random_state=0).fit(x, x[:, 0] > 0), x[:1], options={"zipmap": False}), str(file))


def quantised(file):
    from onnxruntime.quantization import QuantType, quantize_dynamic
    source = file.with_suffix(".float.onnx")
    with_torch(tidy(nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))), (torch.zeros(1, 32),), source, opset=13, names=["x"],
               dynamic={"x": {0: "batch"}})
    quantize_dynamic(source, file, weight_type=QuantType.QUInt8)


def half(file):
    with_torch(tidy(SmallConvNet()).half(), (IMAGE.half(),), file, opset=17, names=["input"])


def scripted(file):
    torch.jit.script(tidy(Branched())).save(str(file))


def traced(file):
    torch.jit.trace(tidy(torchvision.models.resnet18()), IMAGE).save(str(file))


def pretrained(file, model, **config):
    """A folder with config.json and model.safetensors; weights are drawn wider than for training, so that layers differ."""
    import transformers
    configs = {"Bert": transformers.BertConfig, "GPT2": transformers.GPT2Config, "ViT": transformers.ViTConfig}
    kind = next(k for k in configs if model.startswith(k))
    torch.manual_seed(0)
    getattr(transformers, model)(configs[kind](**config)).eval().save_pretrained(file)


def minilm(file):
    pretrained(file, "BertModel", hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536, initializer_range=0.05)


def bert_masked_lm(file):
    pretrained(file, "BertForMaskedLM", hidden_size=256, num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024, initializer_range=0.05)


def bert_classes(file):
    pretrained(file, "BertForSequenceClassification", hidden_size=256, num_hidden_layers=2, num_attention_heads=4, intermediate_size=512, num_labels=5,
               initializer_range=0.05)


def gpt2_small(file):
    pretrained(file, "GPT2LMHeadModel", n_embd=256, n_layer=4, n_head=4, initializer_range=0.05)


def vit_small(file):
    pretrained(file, "ViTForImageClassification", hidden_size=384, num_hidden_layers=6, num_attention_heads=6, intermediate_size=1536, num_labels=100,
               initializer_range=0.05)


def openvino_ir(file):
    import openvino
    openvino.save_model(openvino.convert_model(tidy(SmallConvNet()), example_input=IMAGE, input=[-1, 3, 64, 64]), str(file), compress_to_fp16=False)


# Description, the file's name, who writes it, options for PyTorch's files, which do not name their inputs.
MODELS = [
    ("ConvNet, static, operator set 9", "convnet_9.onnx", convnet_old_static, []),
    ("ConvNet, open batch, operator set 11", "convnet_11.onnx", convnet_old_dynamic, []),
    ("MobileNetV3, open batch and image size, operator set 13", "mobilenet_open.onnx", mobilenet_open_size, []),
    ("ResNet-18, exporter of torch.export, static, operator set 18", "resnet18_dynamo.onnx", resnet_dynamo_static, []),
    ("ViT, exporter of torch.export, open batch, operator set 18", "vit_dynamo.onnx", vit_dynamo_dynamic, []),
    ("TensorFlow's names, channels last", "tensorflow.onnx", tensorflow_style, []),
    ("Scalar input", "scalar.onnx", scalar_input, []),
    ("LSTM, state with the batch in dimension 1", "lstm_state.onnx", lstm_state, []),
    ("Loop, count as a scalar input", "loop.onnx", loop, []),
    ("If", "branch.onnx", branch, []),
    ("U-Net (dense output)", "unet.onnx", segmentation, []),
    ("Detector with NonMaxSuppression", "detector.onnx", detector, []),
    ("Encoder with three inputs, open batch and length", "encoder.onnx", encoder_three_inputs, []),
    ("Two inputs of different sizes, two outputs", "matcher.onnx", two_sizes, []),
    ("Random forest of scikit-learn", "forest.onnx", forest, []),
    ("int8, quantised by ONNX Runtime", "int8.onnx", quantised, []),
    ("float16 weights and inputs", "half.onnx", half, []),
    ("TorchScript with control flow", "branch.ts", scripted, ["--shapes", "x:{batch}x16"]),
    ("TorchScript, traced ResNet-18", "resnet18.pt", traced, ["--shapes", "x:{batch}x3x64x64"]),
    ("OpenVINO IR, open batch", "convnet.xml", openvino_ir, []),
    ("Hugging Face folder, BertModel of MiniLM-L6's shape", "minilm", minilm, []),
    ("Hugging Face folder, BertForMaskedLM", "bert_masked_lm", bert_masked_lm, []),
    ("Hugging Face folder, BertForSequenceClassification", "bert_classes", bert_classes, []),
    ("Hugging Face folder, GPT2LMHeadModel", "gpt2_small", gpt2_small, []),
    ("Hugging Face folder, ViTForImageClassification of ViT-S/16's shape", "vit_small", vit_small, []),
]


def make(folder):
    """(what, file, options) of every model; those that are there are not made again."""
    folder.mkdir(parents=True, exist_ok=True)
    for what, name, maker, options in MODELS:
        if not (folder / name).exists():
            maker(folder / name)
        yield what, folder / name, options
