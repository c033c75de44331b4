// SPDX-License-Identifier: MIT
#include <array>

#include "config/option_rows.h"

namespace paceline::config {
namespace {

using enum OptionType;

constexpr std::array<Choice, 2> kFormats{{{"onnx"}, {"torchscript"}}};

constexpr std::array<Choice, 3> kPrecisions{{{"fp32"}, {"fp16"}, {"int8"}}};

constexpr std::array kRows{
    Option{.name = "model",
           .flags = "-m",
           .type = kModel,
           .kinds = kCommandLine,
           .commands = kExport,
           .help = "The built-in model to write, or a float ONNX file to write in another precision."},
    Option{.name = "precision",
           .type = kChoice,
           .fallback = "fp32",
           .choices = kPrecisions,
           .kinds = kCommandLine,
           .commands = kExport,
           .help = "Of the ONNX file: as the model is, cast to float16, or quantised."},
    Option{.name = "file_format",
           .flags = "--format,-f",
           .type = kChoice,
           .fallback = "onnx",
           .choices = kFormats,
           .kinds = kCommandLine,
           .commands = kExport,
           .help = "What to write."},
    Option{.name = "opset",
           .type = kInteger,
           .fallback = "17",
           .min = 13,
           .max = 21,
           .kinds = kCommandLine,
           .commands = kExport,
           .help = "Version of the ONNX operators."},
    Option{.name = "dynamic_batch",
           .type = kBoolean,
           .fallback = "false",
           .kinds = kCommandLine,
           .commands = kExport,
           .help = "The batch becomes the symbol N instead of a number."},
    Option{.name = "batch",
           .type = kInteger,
           .fallback = "1",
           .unit = "samples",
           .min = 1,
           .max = 1'000'000,
           .kinds = kCommandLine,
           .commands = kExport,
           .help = "Dimension 0 of the inputs."},
    Option{.name = "sequence_length",
           .flags = "--seq-len",
           .type = kInteger,
           .unit = "tokens",
           .min = 1,
           .max = 1'000'000,
           .kinds = kCommandLine,
           .commands = kExport,
           .help = "Tokens of one sequence, for language models only; unset: the model's own (128)."},
    Option{.name = "weights",
           .kinds = kCommandLine,
           .commands = kExport,
           .help = "A .safetensors file; unset: seeded random weights."},
    Option{.name = "weights_seed",
           .type = kInteger,
           .fallback = "0",
           .min = 0,
           .max = 9e15,
           .kinds = kCommandLine,
           .commands = kExport,
           .help = "Seed of random weights."},
    Option{.name = "external_data_above",
           .type = kBytes,
           .fallback = "1900000000",
           .min = 0,
           .max = 2e9,
           .kinds = kCommandLine,
           .commands = kExport,
           .help = "More bytes of weights than this go to FILE.data beside the ONNX file, whose own limit is "
                   "2 GiB."},
};

}  // namespace

std::span<const Option> export_rows() {
  return kRows;
}

}  // namespace paceline::config
