// SPDX-License-Identifier: MIT
// Rows of what runs.
#include <array>

#include "config/option_rows.h"
#include "config/precision_table.h"

namespace paceline::config {
namespace {

constexpr auto kPrecisionChoices = choices_of(kPrecisions);
constexpr auto kKindChoices = choices_of(kWorkloadKinds);
constexpr std::array<Choice, 7> kAnswers{
    {{"auto"}, {"classes"}, {"tokens"}, {"dense"}, {"embedding"}, {"boxes"}, {"none"}}};
constexpr std::array<Choice, 2> kOnOff{{{"on"}, {"off"}}};
constexpr std::array<Choice, 4> kIo{{{"device"}, {"pinned"}, {"pageable"}, {"none"}}};

constexpr std::array kWorkloadRows{
    Option{.name = "kind",
           .type = kChoice,
           .choices = kKindChoices,
           .kinds = kAnyKind,
           .commands = 0,
           .name_part = {3},
           .help = "Kind of workload. Unset: training if the file contains training, ddp or gpu_counts."},
    Option{.name = "models",
           .aliases = "model",
           .flags = "--model,-m,--onnx",
           .type = kModel,
           .form = kAxis,
           .name_part = {1},
           .help = "Built-in models, model files (TorchScript .pt, ONNX .onnx, OpenVINO .xml), or Hugging "
                   "Face folders with config.json and weights (bert, gpt2, vit)."},
    Option{.name = "engines",
           .aliases = "engine",
           .flags = "--engine,--load-engine,--loadEngine",
           .type = kEngine,
           .form = kAxis,
           .fallback = "eager",
           .name_part = {4},
           .help = "Inference engine. A model file selects the engine that reads it; auto: one per model; "
                   "all: every engine that takes the model."},
    Option{.name = "precisions",
           .aliases = "precision",
           .flags = "--precision",
           .type = kChoice,
           .form = kAxis,
           .fallback = "fp32",
           .choices = kPrecisionChoices,
           .name_part = {5},
           .help = "Requested precision; the one that ran is read back and stored. Unset: fp32, and auto for "
                   "model files, which have their own precision."},
    Option{.name = "batch_sizes",
           .aliases = "batch",
           .flags = "--batch,--batch-size,-b",
           .type = kInteger,
           .form = kAxis,
           .fallback = "1",
           .unit = "samples",
           .range = {1, 1'000'000},
           .name_part = {8, "b"},
           .help = "Samples per inference."},
    Option{.name = "threads",
           .flags = "-nthreads",
           .type = kInteger,
           .form = kAxis,
           .fallback = "0",
           .range = {0, 4096},
           .kinds = kAnyKind,
           .name_part = {10, "t", kSeveral},
           .help = "Threads per operator. 0: every core that this process may use."},
    Option{.name = "layouts",
           .aliases = "layout",
           .flags = "--layout",
           .type = kChoice,
           .form = kAxis,
           .fallback = "contiguous",
           .choices = kLayouts,
           .name_part = {11, "", kNotDefault},
           .help = "Memory layout of images. Short form: --channels-last."},
    Option{.name = "sequence_lengths",
           .aliases = "sequence_length",
           .flags = "--sequence-length,--seq-len",
           .type = kInteger,
           .form = kAxis,
           .unit = "tokens",
           .range = {1, 1'000'000},
           .name_part = {19, "s", kSeveral},
           .help = "Tokens per sequence, for language models only. Unset: the model's own (128)."},
    Option{.name = "env",
           .form = kAxisMap,
           .kinds = kAnyKind,
           .help = "Environment variable of the worker processes. A list of values makes an axis."},
    Option{.name = "device",
           .flags = "-d",
           .fallback = "auto",
           .name_part = {12, "", kNotDefault, "cpu"},
           .help = "Device: auto (a GPU if one can be used, else the CPU), cpu, cuda, or cuda:1 for the "
                   "second of several GPUs."},
    Option{.name = "io",
           .type = kChoice,
           .fallback = "device",
           .choices = kIo,
           .name_part = {16, "", kNotDefault},
           .gpu_only = true,
           .help = "Copies per inference on a CUDA device. device: outputs only; pinned, pageable: inputs "
                   "and outputs, in such host memory; none: none, as trtexec's --noDataTransfers."},
    Option{.name = "overlap",
           .type = kBoolean,
           .fallback = "false",
           .name_part = {30, "overlap=", kNotDefault},
           .gpu_only = true,
           .help = "With timing: pipelined on a CUDA device: copies run on separate streams, in parallel "
                   "with the inferences before and after."},
    Option{.name = "cuda_graphs",
           .aliases = "cuda_graph",
           .flags = "--useCudaGraph",
           .type = kBoolean,
           .form = kAxis,
           .fallback = "false",
           .name_part = {18, "cuda_graph=", kNotDefault},
           .gpu_only = true,
           .help = "On a CUDA device: records the model as a CUDA graph in the first inference and replays "
                   "it. false,true compares both."},
    Option{.name = "load_libraries",
           .aliases = "load_library",
           .flags = "--load-library",
           .form = kList,
           .help = "Shared libraries of operators, loaded before a TorchScript file, e.g. torchvision's "
                   "_C.so. They must be built for this LibTorch."},
    Option{.name = "weights",
           .kinds = kInference | kTraining,
           .help = "A .safetensors file for a built-in model, or for bert, gpt2 or vit with config.json "
                   "beside it. Unset: weights of the model's folder, else seeded random weights."},
    Option{.name = "weights_seed",
           .type = kInteger,
           .fallback = "0",
           .range = {0, 9e15},
           .help = "Seed of random weights."},
    Option{.name = "input_seed",
           .flags = "--seed",
           .type = kInteger,
           .fallback = "1",
           .range = {0, 9e15},
           .help = "Seed of generated inputs."},
    Option{.name = "input_values",
           .form = kList,
           .help = "Values of generated inputs, e.g. sr:16000,ids:0..999. Unset: normal floats; integers are "
                   "valid indices if the file shows the range, else 1."},
    Option{.name = "load_inputs",
           .flags = "--loadInputs",
           .form = kList,
           .excludes = "image_dir",
           .help = "Input tensors from .npy, .npz or raw .bin files instead of generated ones; input:x.npy "
                   "names the input. In a list, \\, is a comma of a name."},
    Option{.name = "feedback",
           .form = kList,
           .help = "State of a model, OUTPUT:INPUT: the output of an inference is that input of the next "
                   "one, outside the timed part."},
    aside({.name = "dump_outputs",
           .written = true,
           .help = "Folder for the inputs and outputs of the accuracy check, a folder per case: "
                   "inputs-<batch>.npz, outputs-<batch>.npz. --accuracy-samples sets their number."}),
    Option{.name = "image_dir",
           .help = "Folder of JPEG or PNG files as inputs, resized and normalised. The model's input has 3 "
                   "channels, NCHW or NHWC, float32 or uint8."},
    Option{.name = "image_mean",
           .flags = "--mean,--mean-values",
           .type = kNumber,
           .form = kList,
           .range = {-1e6, 1e6},
           .kinds = kInference | kCommandLine,
           .commands = kRun | kInfer | kExport | kBuild,
           .by_place = true,
           .help =
               "Value, or red,green,blue, to subtract from pixels (0 to 255) of image_dir and calib_images. "
               "Unset: ImageNet's 123.675,116.28,103.53 for float32, 0 for uint8 and with image_scale."},
    Option{.name = "image_scale",
           .flags = "--scale,--scale-values",
           .type = kNumber,
           .form = kList,
           .range = {1e-6, 1e6},
           .kinds = kInference | kCommandLine,
           .commands = kRun | kInfer | kExport | kBuild,
           .by_place = true,
           .help = "Value, or red,green,blue, to divide pixels by after that. Unset: ImageNet's "
                   "58.395,57.12,57.375 for float32, 1 for uint8 and with image_mean."},
    Option{.name = "image_reverse_channels",
           .flags = "--reverse-channels,--reverse-input-channels",
           .type = kBoolean,
           .kinds = kInference | kCommandLine,
           .commands = kRun | kInfer | kExport | kBuild,
           .help = "Gives channels of image_dir and calib_images as blue, green, red. image_mean and "
                   "image_scale stay red, green, blue."},
    aside({.name = "shapes",
           .type = kShapes,
           .help = "Input shapes of a model file, NAME:DIMxDIM[:DTYPE],…; {batch} marks the batch, e.g. "
                   "x:{batch}x3x224x224. Unset: as in the file."}),
    aside({.name = "baseline",
           .form = kMap,
           .kinds = kAnyKind,
           .help = "Axis values of the case that speed-ups are relative to. Unset: the first engine and "
                   "precision; for training also the first DDP options."}),
    aside({.name = "allow_precision_fallback",
           .type = kBoolean,
           .fallback = "false",
           .help = "Keeps and marks a case that ran in another precision than requested. Default: the case "
                   "fails."}),
    aside({.name = "accuracy.max_rel_err",
           .type = kNumber,
           .range = {0, 1e6},
           .excludes = "accuracy.quantile_err",
           .help = "Largest accepted max|a-b|/max|b| against the reference. Unset: by precision and kind of "
                   "model."}),
    aside({.name = "accuracy.centred_cosine",
           .type = kNumber,
           .range = {-1, 1},
           .help = "Smallest accepted centred cosine against the reference. Unset: by precision and kind of "
                   "model."}),
    aside({.name = "accuracy.quantile_err",
           .type = kNumber,
           .range = {0, 1e6},
           .help = "Largest accepted 0.98 quantile of |a-b| of a dense output, in standard deviations of the "
                   "reference. Unset: by precision."}),
    aside({.name = "accuracy.max_changed",
           .type = kNumber,
           .range = {0, 1},
           .help = "Largest accepted share of inputs with another answer than the reference's (trained "
                   "weights), or of different integers or boxes. Unset: by precision."}),
    aside({.name = "accuracy.max_top1_change",
           .flags = "--accuracy-claim",
           .type = kNumber,
           .range = {1e-6, 1},
           .help = "Claims that top-1 changes by less than this share (0.005: half a percent): passed, "
                   "failed (exit 1) or cannot say (exit 3)."}),
    aside({.name = "accuracy.samples",
           .flags = "--accuracy-samples",
           .type = kInteger,
           .unit = "inputs",
           .range = {1, 10'000},
           .help = "Number of inputs to compare with the reference. Unset: 64, at least two batches; fewer "
                   "if the reference is slow; 16 in a first look of infer."}),
    aside({.name = "accuracy.reference",
           .flags = "--accuracy-reference",
           .type = kReference,
           .fallback = "eager",
           .help = "Reference of the outputs: an engine in fp32, another model with the same inputs "
                   "(FLOAT.onnx, resnet50), or a file of outputs (FILE.npy, FILE.npz, NAME:FILE.npz)."}),
    aside({.name = "accuracy.check",
           .flags = "--accuracy",
           .type = kChoice,
           .fallback = "on",
           .choices = kOnOff,
           .help = "off: outputs are not compared, and every table marks the case as unchecked."}),
    aside({.name = "accuracy.answers",
           .flags = "--accuracy-answers,--accuracy-output",
           .type = kChoice,
           .fallback = "auto",
           .choices = kAnswers,
           .help = "Kind of the first output: classes, tokens (scores per token), dense (a map), embedding, "
                   "boxes or none of these. auto: by built-in model, else by name, type and shape."}),
    aside({.name = "labels",
           .help = "Correct class of each input of load_inputs or image_dir: a file with one integer per "
                   "line, or a .npy."}),
};

}  // namespace

std::span<const Option> workload_rows() {
  return kWorkloadRows;
}

}  // namespace paceline::config
