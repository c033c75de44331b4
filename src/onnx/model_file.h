// SPDX-License-Identifier: MIT
// Reads and writes ONNX files, with the weights in a second file where they are large.
#pragma once
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "onnx/proto.h"

namespace paceline::onnx {

struct WriteOptions {
  // More weight bytes than this go to FILE.data beside the model: one protobuf message ends at 2 GiB.
  std::int64_t external_data_above_bytes = 1'900'000'000;
};

// Reads the whole model with its external data. Throws Error(kIo) for a missing file, Error(kData) for one
// that is not ONNX, is truncated, has no outputs, names external data that is missing, too short or outside
// its folder, or does not pass check_graph.
proto::ModelProto read_model(const std::filesystem::path& path);

// Leaves external data where they are, and skips the check of the graph.
proto::ModelProto read_without_data(const std::filesystem::path& path);

// A tensor whose bytes lie in another file.
struct ExternalTensor {
  proto::TensorProto* tensor;
  std::filesystem::path file;
  std::int64_t offset, length;
};
// Throws as read_model does for what they name.
std::vector<ExternalTensor> external_tensors(proto::ModelProto& model, const std::filesystem::path& path);
void set_external_data(proto::TensorProto& tensor, const std::string& location, std::uint64_t offset,
                       std::uint64_t length);

// Throws Error(kData) where a data file is a link that leaves the model's folder, or the folder of Hugging
// Face's cache that the model is in. Reads no weights.
void check_data_files(const std::filesystem::path& path);

// Writes to temporary files and renames them, the data file first. The model is left as it was.
void write_model(proto::ModelProto& model, const std::filesystem::path& path,
                 const WriteOptions& options = {});

// The file, and the files of external data that it names inside its folder, found without reading weights.
std::set<std::filesystem::path> files_on_disk(const std::filesystem::path& path);
// The total size of all of them.
std::int64_t size_on_disk(const std::filesystem::path& path);

}  // namespace paceline::onnx
