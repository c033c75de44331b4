// SPDX-License-Identifier: MIT
// Rows of how int8 files are made.
#include <array>

#include "config/option_rows.h"

namespace paceline::config {
namespace {

using enum OptionType;
using enum OptionForm;

constexpr unsigned kQuantisedKinds = kInference | kCommandLine,
                   kQuantisingCommands = kRun | kInfer | kExport | kBuild;
constexpr std::array<Choice, 3> kActivations{{{"auto"}, {"uint8"}, {"int8"}}};
constexpr std::array<Choice, 3> kMethods{{{"minmax"}, {"percentile"}, {"entropy"}}};

constexpr std::array kQuantisationRows{
    Option{.name = "quantisation.activations",
           .type = kChoice,
           .fallback = "auto",
           .choices = kActivations,
           .kinds = kQuantisedKinds,
           .commands = kQuantisingCommands,
           .help =
               "uint8 with int32 bias, which ONNX Runtime and OpenVINO run as int8; int8 with float bias, "
               "which TensorRT does; auto: by engine."},
    Option{.name = "quantisation.method",
           .type = kChoice,
           .fallback = "percentile",
           .choices = kMethods,
           .kinds = kQuantisedKinds,
           .commands = kQuantisingCommands,
           .help =
               "Range of an activation: all values seen, all but the farthest, or the one that loses least "
               "information."},
    Option{.name = "quantisation.percentile",
           .type = kNumber,
           .fallback = "99.99",
           .unit = "%",
           .min = 50,
           .max = 100,
           .kinds = kQuantisedKinds,
           .commands = kQuantisingCommands,
           .help = "Share of an activation's values that its range holds, for the method percentile."},
    Option{.name = "quantisation.samples",
           .type = kInteger,
           .fallback = "32",
           .unit = "inputs",
           .min = 1,
           .max = 100'000,
           .kinds = kQuantisedKinds,
           .commands = kQuantisingCommands,
           .help = "Calibration inputs."},
    Option{.name = "quantisation.exclude",
           .form = kList,
           .kinds = kQuantisedKinds,
           .commands = kQuantisingCommands,
           .help = "Layers that stay in float: names with * and ?, and the words first and last."},
    Option{
        .name = "calib_images",
        .kinds = kQuantisedKinds,
        .commands = kQuantisingCommands,
        .help = "Folder of JPEG or PNG files to calibrate with; without it and calib_data, random inputs."},
    Option{.name = "calib_data",
           .form = kList,
           .kinds = kQuantisedKinds,
           .commands = kQuantisingCommands,
           .help = ".npy or .npz files to calibrate with (input:x.npy names the input)."},
    Option{.name = "calib_cache",
           .flags = "--calib",
           .kinds = kQuantisedKinds,
           .commands = kQuantisingCommands,
           .help =
               "Calibration as JSON: read where it fits the model and the data, else written; in a folder, "
               "a file for each model. FILE.trt is TensorRT's form."},
    Option{.name = "int8_sensitivity",
           .type = kBoolean,
           .fallback = "false",
           .kinds = kQuantisedKinds,
           .commands = kQuantisingCommands,
           .help = "Measures what each layer alone costs in 8 bits, and which to exclude."},
};

}  // namespace

std::span<const Option> quantisation_rows() {
  return kQuantisationRows;
}

}  // namespace paceline::config
