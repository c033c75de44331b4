// SPDX-License-Identifier: MIT
// Rows of how int8 files are made.
#include <array>

#include "config/option_rows.h"

namespace paceline::config {
namespace {

constexpr std::array<Choice, 3> kActivations{{{"auto"}, {"uint8"}, {"int8"}}};
constexpr std::array<Choice, 3> kMethods{{{"minmax"}, {"percentile"}, {"entropy"}}};

constexpr std::array kQuantisationRows{
    aside({.name = "quantisation.activations",
           .type = kChoice,
           .fallback = "auto",
           .choices = kActivations,
           .idle = {Idle::kNotInt8},
           .help = "Type of quantised activations. uint8 (int32 bias): for ONNX Runtime and OpenVINO; int8 "
                   "(float bias): for TensorRT; auto: by engine."}),
    aside({.name = "quantisation.method",
           .type = kChoice,
           .fallback = "percentile",
           .choices = kMethods,
           .idle = {Idle::kNotInt8},
           .help = "Range of an activation. minmax: all values; percentile: all but the farthest; entropy: "
                   "the one that loses least information."}),
    aside({.name = "quantisation.percentile",
           .type = kNumber,
           .fallback = "99.99",
           .unit = "%",
           .range = {50, 100},
           .idle = {Idle::kNotInt8},
           .help = "Share of an activation's values inside its range, for the method percentile."}),
    aside({.name = "quantisation.samples",
           .type = kInteger,
           .fallback = "32",
           .unit = "inputs",
           .range = {1, 100'000},
           .idle = {Idle::kNotInt8},
           .help = "Number of calibration inputs; 8 random ones in a first look of infer."}),
    aside({.name = "quantisation.exclude",
           .form = kList,
           .idle = {Idle::kNotInt8},
           .help = "Layers that stay in float: names with * and ?, or the words first and last."}),
    aside({.name = "calib_images",
           .idle = {Idle::kNotInt8},
           .help = "Folder of JPEG or PNG files for calibration. Without it and calib_data: random inputs."}),
    aside({.name = "calib_data",
           .form = kList,
           .excludes = "calib_images",
           .idle = {Idle::kNotInt8},
           .help = ".npy, .npz or .bin files for calibration; input:x.npy names the input."}),
    aside({.name = "calib_cache",
           .flags = "--calib",
           .idle = {Idle::kNotInt8},
           .help = "JSON file of the calibration: read if it fits model and data, else written. A folder "
                   "gets a file per model; FILE.trt has TensorRT's format."}),
    aside(
        {.name = "int8_sensitivity",
         .type = kBoolean,
         .fallback = "false",
         .idle = {Idle::kNotInt8},
         .help = "Measures the error that each layer causes in int8, and reports which layers to exclude."}),
};

}  // namespace

std::span<const Option> quantisation_rows() {
  return kQuantisationRows;
}

}  // namespace paceline::config
