// SPDX-License-Identifier: MIT
// Rows of the `build` command.
#include <array>

#include "config/option_rows.h"

namespace paceline::config {
namespace {

constexpr std::array kBuildRows{
    Option{
        .name = "engine",
        .type = kChoice,
        .help =
            "The engine that loads the file: openvino (.blob), tensorrt (.plan), aotinductor (.pt2; needs a "
            "Python with PyTorch: PACELINE_PYTHON, else python3)."},
    Option{.name = "min_shapes",
           .flags = "--minShapes",
           .help = "Smallest shapes, e.g. input:1x3x224x224,ids:1x16; unset: opt_shapes."},
    Option{.name = "opt_shapes",
           .flags = "--optShapes,--shapes",
           .help = "Shapes the engine is tuned for; a ';' starts a further profile. Unset: the model's own, "
                   "free batches as --batch says."},
    Option{.name = "max_shapes", .flags = "--maxShapes", .help = "Largest shapes; unset: opt_shapes."},
    Option{.name = "workspace",
           .flags = "--memPoolSize",
           .type = kBytes,
           .unit = "bytes",
           .range = {1 << 20},
           .help = "TensorRT: most device memory that a layer may use for itself, e.g. 4GiB (or trtexec's "
                   "workspace:4096, in MiB); unset: all there is."},
    Option{.name = "dla",
           .flags = "--useDLACore",
           .type = kInteger,
           .range = {0, 15},
           .help = "TensorRT: the DLA core to build for, the GPU for what it cannot do; unset: the GPU."},
    Option{.name = "device",
           .help =
               "TensorRT: the GPU whose kernels are timed for the plan, e.g. cuda:1; unset: the first one. "
               "AOTInductor: what the package is for, cpu (unset) or cuda."},
    Option{.name = "freezing",
           .type = kBoolean,
           .help = "AOTInductor: weights become constants, folded and laid out when the package is made, "
                   "which is faster; unset: true."},
    Option{.name = "builds",
           .type = kInteger,
           .fallback = "1",
           .range = {1, 100},
           .help = "How often the file is built, each time in a process of its own: FILE.plan, "
                   "FILE.build2.plan and so on; infer with all of them tells how much builds vary."},
    Option{
        .name = "timing_cache",
        .flags = "--timingCacheFile",
        .written = true,
        .help = "TensorRT: file with times of kernels, read and written, so that the next build is faster."},
    Option{.name = "engine_config",
           .flags = "--config,-c",
           .help = "These options as a JSON file (`paceline schema engine-config`); the command line wins."},
    Option{
        .name = "timeout_s",
        .type = kNumber,
        .fallback = "7200",
        .unit = "s",
        .range = {0.1, 604'800},
        .commands = kExport | kBuild,
        .help =
            "Stops a process that exports, calibrates or compiles after so long; nothing is written then."},
    Option{.name = "log",
           .written = true,
           .help = "File for the library's messages; unset: FILE.log beside the output."},
};

}  // namespace

std::span<const Option> build_rows() {
  return kBuildRows;
}

}  // namespace paceline::config
