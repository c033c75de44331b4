// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <set>

#include "onnx/proto.h"

namespace paceline::onnx {

struct WriteOptions {
  // A model with more weight bytes than this keeps them in FILE.data beside it: one protobuf message ends at
  // 2 GiB.
  std::int64_t external_data_above_bytes = 1'900'000'000;
};

// The whole model, external data read into its tensors. Throws Error(kIo) for a missing file, Error(kData)
// for one that is not ONNX, is cut short, has no outputs, or names external data that is missing, too short
// or outside its folder.
proto::ModelProto read_model(const std::filesystem::path& path);

// Writes beside the target and renames, the data file first. The model is left as it was.
void write_model(proto::ModelProto& model, const std::filesystem::path& path,
                 const WriteOptions& options = {});

// The file, and the files of external data that it names.
std::set<std::filesystem::path> files_on_disk(const std::filesystem::path& path);
// Bytes of all of them.
std::int64_t size_on_disk(const std::filesystem::path& path);

}  // namespace paceline::onnx
