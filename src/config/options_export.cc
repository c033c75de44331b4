// SPDX-License-Identifier: MIT
// Rows of the `export` command.
#include <array>

#include "config/option_rows.h"

namespace paceline::config {
namespace {

constexpr std::array<Choice, 2> kExportFormats{{{"onnx"}, {"torchscript"}}};

constexpr std::array<Choice, 5> kExportPrecisions{{{"fp32"}, {"tf32"}, {"fp16"}, {"bf16"}, {"int8"}}};

constexpr std::array kExportRows{
    Option{.name = "model",
           .flags = "-m,--onnx",
           .type = kModel,
           .help = "Built-in model, or an ONNX file to convert to another precision or to build; for "
                   "aotinductor a TorchScript file."},
    Option{.name = "precision",
           .type = kChoice,
           .fallback = "fp32",
           .choices = kExportPrecisions,
           .help = "Precision of the file: fp16 casts, int8 quantises; bf16 and tf32 are for build only."},
    Option{.name = "file_format",
           .flags = "--format,-f",
           .type = kChoice,
           .fallback = "onnx",
           .choices = kExportFormats,
           .commands = kExport,
           .help = "File format; without it, a file that ends in .pt becomes TorchScript."},
    Option{.name = "opset",
           .type = kInteger,
           .fallback = "17",
           .range = {13, 21},
           .help = "Version of the ONNX operator set (opset), for built-in models."},
    Option{.name = "dynamic_batch",
           .type = kBoolean,
           .fallback = "false",
           .commands = kExport,
           .help = "Leaves the batch dimension open (symbol N). Default: it is fixed to --batch."},
    Option{.name = "batch",
           .type = kInteger,
           .fallback = "1",
           .unit = "samples",
           .range = {1, 1'000'000},
           .help = "Size of dimension 0 of the inputs; for build, of inputs without shapes."},
    Option{.name = "sequence_length",
           .flags = "--seq-len",
           .type = kInteger,
           .unit = "tokens",
           .range = {1, 1'000'000},
           .help = "Tokens per sequence, for language models only. Unset: the model's own (128)."},
    Option{.name = "weights",
           .help = "A .safetensors file. Unset: weights of the model's folder, else seeded random weights."},
    Option{.name = "weights_seed",
           .type = kInteger,
           .fallback = "0",
           .range = {0, 9e15},
           .help = "Seed of random weights."},
    Option{.name = "external_data_above",
           .type = kBytes,
           .fallback = "1900000000",
           .range = {0, 2e9},
           .help = "Size of the weights above which they go to FILE.data, because an ONNX file is limited to "
                   "2 GiB."},
};

}  // namespace

std::span<const Option> export_rows() {
  return kExportRows;
}

}  // namespace paceline::config
