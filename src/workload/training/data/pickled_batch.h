// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::workload {

// One file of CIFAR's Python version: pictures as rows of 3072 bytes, and their classes.
struct PickledBatch {
  std::span<const unsigned char> pixels;  // within the file, or in `copy`
  std::vector<unsigned char> labels;
  std::string copy;
};

// Whether the file begins as a pickle of protocol 2 or later does.
bool is_pickled(std::span<const unsigned char> file);

// Reads the pickled dictionary of torchvision's CIFAR files: `data`, a uint8 array of N x 3072, and a list of
// N classes under `label_key`. It knows the instructions that such a file has and no others: it calls nothing
// and loads no class. Throws Error(kData) naming `path` and what is wrong with it.
PickledBatch read_pickled_batch(std::span<const unsigned char> file, std::string_view label_key,
                                const std::string& path);

}  // namespace paceline::workload
