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
           .help = "What the workload is; training where it is absent and training, ddp or gpu_counts stands "
                   "in the file."},
    Option{.name = "models",
           .aliases = "model",
           .flags = "--model,-m,--onnx",
           .type = kModel,
           .form = kAxis,
           .name_part = {1},
           .help = "Built-in models, model files (TorchScript .pt, ONNX .onnx, OpenVINO .xml), or folders of "
                   "Hugging Face with config.json and weights (bert, gpt2, vit)."},
    Option{.name = "engines",
           .aliases = "engine",
           .flags = "--engine,--load-engine,--loadEngine",
           .type = kEngine,
           .form = kAxis,
           .fallback = "eager",
           .name_part = {4},
           .help =
               "What runs the model; a model file stands for the engine that reads it; auto: each model "
               "has its own, which is meant where files of several kinds are listed; all: every engine that "
               "takes the model. For aotinductor and tensorrt a file is built in the run."},
    Option{.name = "precisions",
           .aliases = "precision",
           .flags = "--precision",
           .type = kChoice,
           .form = kAxis,
           .fallback = "fp32",
           .choices = kPrecisionChoices,
           .name_part = {5},
           .help = "Arithmetic asked for; what really ran is read back and stored. Unset: fp32, and auto for "
                   "model files, which have a precision of their own."},
    Option{.name = "batch_sizes",
           .aliases = "batch",
           .flags = "--batch,--batch-size,-b",
           .type = kInteger,
           .form = kAxis,
           .fallback = "1",
           .unit = "samples",
           .range = {1, 1'000'000},
           .name_part = {8, "b"},
           .help = "Samples of one inference."},
    Option{.name = "threads",
           .flags = "-nthreads",
           .type = kInteger,
           .form = kAxis,
           .fallback = "0",
           .range = {0, 4096},
           .kinds = kAnyKind,
           .name_part = {10, "t", kSeveral},
           .help = "Threads inside an operator; 0: every core this process may use."},
    Option{.name = "layouts",
           .aliases = "layout",
           .flags = "--layout",
           .type = kChoice,
           .form = kAxis,
           .fallback = "contiguous",
           .choices = kLayouts,
           .name_part = {11, "", kNotDefault},
           .help = "Memory layout of images (channels_last: true is short for it)."},
    Option{.name = "sequence_lengths",
           .aliases = "sequence_length",
           .flags = "--sequence-length,--seq-len",
           .type = kInteger,
           .form = kAxis,
           .unit = "tokens",
           .range = {1, 1'000'000},
           .name_part = {19, "s", kSeveral},
           .help = "Tokens of one sequence, for language models only; unset: the model's own (128)."},
    Option{.name = "env",
           .form = kAxisMap,
           .kinds = kAnyKind,
           .help = "Environment variables of the workers; a list of values makes an axis."},
    Option{.name = "device",
           .flags = "-d",
           .fallback = "auto",
           .name_part = {12, "", kNotDefault, "cpu"},
           .help = "Where it runs: auto (the GPU where one can be used, else the CPU), cpu, cuda, or cuda:1 "
                   "for the second of several devices."},
    Option{.name = "io",
           .type = kChoice,
           .fallback = "device",
           .choices = kIo,
           .name_part = {16, "", kNotDefault},
           .gpu_only = true,
           .help = "What an inference on a CUDA device copies. device: its outputs to pinned memory, inputs "
                   "are on the device before anything is timed; pinned, pageable: its inputs from such "
                   "memory and its outputs to it; none: nothing, as trtexec's --noDataTransfers."},
    Option{.name = "overlap",
           .type = kBoolean,
           .fallback = "false",
           .name_part = {30, "overlap=", kNotDefault},
           .gpu_only = true,
           .help = "On a CUDA device, with timing: pipelined: copies run on streams of their own, beside the "
                   "models of the inferences before and behind, with memory for two."},
    Option{.name = "cuda_graphs",
           .aliases = "cuda_graph",
           .flags = "--useCudaGraph",
           .type = kBoolean,
           .form = kAxis,
           .fallback = "false",
           .name_part = {18, "cuda_graph=", kNotDefault},
           .gpu_only = true,
           .help = "On a CUDA device: the first inference records the model as a CUDA graph, the others "
                   "replay it; false,true compares."},
    Option{.name = "load_libraries",
           .aliases = "load_library",
           .flags = "--load-library",
           .form = kList,
           .help =
               "Shared libraries of operators, loaded before a TorchScript file is read, e.g. torchvision's "
               "_C.so; each must be built for the LibTorch here."},
    Option{.name = "weights",
           .kinds = kInference | kTraining,
           .help = "A .safetensors file for a built-in model, or, with a config.json beside it, for bert, "
                   "gpt2 or vit; unset: those of the model's folder, else seeded random weights."},
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
    Option{
        .name = "input_values",
        .form = kList,
        .help =
            "Values of generated inputs, NAME:VALUE or NAME:FROM..TO, e.g. sr:16000,ids:0..999. Unset: valid "
            "indices where the file tells them, else 1, for integers; normal for floats."},
    Option{.name = "load_inputs",
           .flags = "--loadInputs",
           .form = kList,
           .excludes = "image_dir",
           .help =
               "Input tensors from .npy or .npz files (input:x.npy names the input), or from files of bare "
               "numbers (input:x.bin), instead of generated ones; each belongs to an input."},
    Option{.name = "feedback",
           .form = kList,
           .help = "State of a model, OUTPUT:INPUT: what an inference gives is the input of the next one; it "
                   "is bound outside the timed part, and answers are checked for the first inputs."},
    aside({.name = "dump_outputs",
           .written = true,
           .help = "Folder for what the checked inputs gave: inputs-<batch>.npz and outputs-<batch>.npz in a "
                   "folder for each case, all outputs of the model; --accuracy-samples says how many inputs "
                   "are run."}),
    Option{.name = "image_dir",
           .help = "Folder of JPEG or PNG files as input, resized and normalised; the input is 3 planes "
                   "(NCHW) or has its channels last (NHWC), float32 or uint8."},
    Option{.name = "image_mean",
           .flags = "--mean,--mean-values",
           .type = kNumber,
           .form = kList,
           .range = {-1e6, 1e6},
           .kinds = kInference | kCommandLine,
           .commands = kRun | kInfer | kExport | kBuild,
           .by_place = true,
           .help = "What is subtracted from the pixels (0 to 255) of image_dir and calib_images: one value, "
                   "or red, green, blue. Unset: ImageNet's 123.675,116.28,103.53 for float32, 0 for uint8 "
                   "and with image_scale."},
    Option{.name = "image_scale",
           .flags = "--scale,--scale-values",
           .type = kNumber,
           .form = kList,
           .range = {1e-6, 1e6},
           .kinds = kInference | kCommandLine,
           .commands = kRun | kInfer | kExport | kBuild,
           .by_place = true,
           .help = "What pixels are divided by after that: one value, or red, green, blue. Unset: ImageNet's "
                   "58.395,57.12,57.375 for float32, 1 for uint8 and with image_mean."},
    Option{.name = "image_reverse_channels",
           .flags = "--reverse-channels,--reverse-input-channels",
           .type = kBoolean,
           .kinds = kInference | kCommandLine,
           .commands = kRun | kInfer | kExport | kBuild,
           .help = "Channels of image_dir and calib_images are blue, green, red; image_mean and image_scale "
                   "are always red, green, blue."},
    aside({.name = "shapes",
           .type = kShapes,
           .help = "Inputs of a model file, NAME:DIMxDIM[:DTYPE],…, with {batch} for the dimension that is "
                   "the batch, e.g. x:{batch}x3x224x224; unset: as the file says."}),
    aside({.name = "baseline",
           .form = kMap,
           .kinds = kAnyKind,
           .help = "Axis values of the case that speed-ups are relative to; unset: the first engine and "
                   "precision."}),
    aside({.name = "allow_precision_fallback",
           .type = kBoolean,
           .fallback = "false",
           .help = "Keeps a case whose executed precision is not the one asked for, marked, instead of "
                   "failing it."}),
    aside({.name = "accuracy.max_rel_err",
           .type = kNumber,
           .range = {0, 1e6},
           .excludes = "accuracy.quantile_err",
           .help = "Largest accepted max|a-b|/max|b| against the reference; unset: by precision and kind of "
                   "model."}),
    aside({.name = "accuracy.centred_cosine",
           .type = kNumber,
           .range = {-1, 1},
           .help = "Smallest accepted centred cosine against the reference; unset: by precision and kind of "
                   "model."}),
    aside({.name = "accuracy.quantile_err",
           .type = kNumber,
           .range = {0, 1e6},
           .help = "Largest accepted 0.98 quantile of |a-b| of a dense output, over the standard deviation "
                   "of the reference; unset: by precision."}),
    aside({.name = "accuracy.max_changed",
           .type = kNumber,
           .range = {0, 1},
           .help = "Largest accepted share of inputs whose answer differs from the reference's, with trained "
                   "weights, and of integers and boxes that do; unset: by precision."}),
    aside({.name = "accuracy.max_top1_change",
           .flags = "--accuracy-claim",
           .type = kNumber,
           .range = {1e-6, 1},
           .help = "Claims that top-1 changes by less than this share (0.005: half a percent): passed, "
                   "failed (exit 1), or cannot be said with these inputs (exit 3)."}),
    aside({.name = "accuracy.samples",
           .flags = "--accuracy-samples",
           .type = kInteger,
           .unit = "inputs",
           .range = {1, 10'000},
           .help =
               "Number of inputs to compare with the reference; load_inputs and image_dir may give fewer. "
               "Unset: 64 or two batches, whichever is more; with generated inputs a slow reference "
               "stops after 5 s, but not before 16 or two batches."}),
    aside({.name = "accuracy.reference",
           .flags = "--accuracy-reference",
           .type = kReference,
           .fallback = "eager",
           .help =
               "What outputs are compared with: an engine in fp32 (eager, onnxruntime), another model "
               "with the same inputs (FLOAT.onnx; resnet50, for a file that was built from it), or a file "
               "of expected outputs (FILE.npy, FILE.npz, NAME:FILE.npz)."}),
    aside({.name = "accuracy.check",
           .flags = "--accuracy",
           .type = kChoice,
           .fallback = "on",
           .choices = kOnOff,
           .help = "off: outputs are compared with nothing, and every table marks the case as unchecked."}),
    aside({.name = "accuracy.answers",
           .flags = "--accuracy-answers,--accuracy-output",
           .type = kChoice,
           .fallback = "auto",
           .choices = kAnswers,
           .help = "What the first output holds: class scores of an input (classes), of each next token "
                   "(tokens), a map (dense), vectors (embedding), boxes, or none of those; auto: by the "
                   "built-in model, else by name, type and shape, as for the other outputs."}),
    aside({.name = "labels",
           .help =
               "The right class of each input of load_inputs or image_dir: one integer a line, or a .npy."}),
};

}  // namespace

std::span<const Option> workload_rows() {
  return kWorkloadRows;
}

}  // namespace paceline::config
