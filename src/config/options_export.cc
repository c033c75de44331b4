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
           .help = "A built-in model, or an ONNX file: to write in another precision, or to build; for "
                   "aotinductor a TorchScript file."},
    Option{.name = "precision",
           .type = kChoice,
           .fallback = "fp32",
           .choices = kExportPrecisions,
           .help = "Of what is written: as the model is, cast to float16, or quantised; bf16 and tf32 for "
                   "build only."},
    Option{.name = "file_format",
           .flags = "--format,-f",
           .type = kChoice,
           .fallback = "onnx",
           .choices = kExportFormats,
           .commands = kExport,
           .help = "What to write. Without it, a file that ends in .pt becomes TorchScript."},
    Option{.name = "opset",
           .type = kInteger,
           .fallback = "17",
           .range = {13, 21},
           .help = "Version of the ONNX operators."},
    Option{.name = "dynamic_batch",
           .type = kBoolean,
           .fallback = "false",
           .commands = kExport,
           .help = "The batch becomes the symbol N instead of a number."},
    Option{.name = "batch",
           .type = kInteger,
           .fallback = "1",
           .unit = "samples",
           .range = {1, 1'000'000},
           .help = "Dimension 0 of the inputs; build: of those without shapes."},
    Option{.name = "sequence_length",
           .flags = "--seq-len",
           .type = kInteger,
           .unit = "tokens",
           .range = {1, 1'000'000},
           .help = "Tokens of one sequence, for language models only; unset: the model's own (128)."},
    Option{.name = "weights",
           .help = "A .safetensors file; unset: those of the model's folder, else seeded random weights."},
    Option{.name = "weights_seed",
           .type = kInteger,
           .fallback = "0",
           .range = {0, 9e15},
           .help = "Seed of random weights."},
    Option{.name = "external_data_above",
           .type = kBytes,
           .fallback = "1900000000",
           .range = {0, 2e9},
           .help = "More bytes of weights than this go to FILE.data beside the ONNX file, whose own limit is "
                   "2 GiB."},
};

}  // namespace

std::span<const Option> export_rows() {
  return kExportRows;
}

}  // namespace paceline::config
