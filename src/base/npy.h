// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/tensor.h"

namespace paceline {

// Reads and writes NumPy's .npy format 1.0-3.0, little-endian, C order; float16/32/64, int8/16/32/64,
// uint8/16/32/64, bool. Throws Error(kData) for anything else, naming the file.
Tensor read_npy(const std::filesystem::path& path);
// Reads only samples first … first + count - 1 (dimension 0). Throws Error(kData) where there are fewer.
Tensor read_npy_samples(const std::filesystem::path& path, std::int64_t first, std::int64_t count);
TensorSpec read_npy_spec(const std::filesystem::path& path);  // reads only the header
void write_npy(const std::filesystem::path& path, const TensorView& tensor);
// Writes an archive of arrays (.npz, not compressed) under the tensors' names, which must differ.
void write_npz(const std::filesystem::path& path, std::span<const TensorView> tensors);

// How much memory the arrays of a .npy or .npz file take, according to their headers.
std::uint64_t npy_or_npz_bytes(const std::filesystem::path& path);
// Reads one tensor (.npy) or all arrays of an archive (.npz), named by file stem or member name.
std::vector<Tensor> read_npy_or_npz(const std::filesystem::path& path);
// Reads the headers only.
std::vector<TensorSpec> read_npy_or_npz_specs(const std::filesystem::path& path);

// Splits "name:x.npy" into name and file; the name may hold colons, as TensorFlow's do. "x.npy" has no name.
std::pair<std::string, std::string> name_and_file(const std::string& text);

}  // namespace paceline
