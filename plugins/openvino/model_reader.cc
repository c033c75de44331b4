// SPDX-License-Identifier: MIT
#include "openvino/model_reader.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/model_content.h"
#include "onnx/model_file.h"
#include "openvino/core_instance.h"

namespace paceline::openvino_plugin {
namespace {

namespace fs = std::filesystem;

// OpenVINO takes bytes at an address for external data under this name.
constexpr const char* kInMemory = "*/_ORT_MEM_ADDR_/*";

// OpenVINO opens no data file that is a link out of the model's folder, as every one is in Hugging Face's
// cache.
bool has_linked_data(const std::string& file) {
  const auto files = onnx::files_on_disk(file);
  return std::any_of(files.begin(), files.end(), [&](const fs::path& part) {
    std::error_code error;
    return part != file && fs::is_symlink(part, error);
  });
}

ReadModel read_with_mapped_data(const std::string& file) {
  ReadModel read;
  auto model = onnx::read_without_data(file);
  std::map<fs::path, const MappedFile*> mapped;
  for (const auto& external : onnx::external_tensors(model, file)) {
    auto& data = mapped[external.file];
    if (!data) data = read.data.emplace_back(std::make_unique<MappedFile>(external.file)).get();
    const auto address = reinterpret_cast<std::uintptr_t>(data->data() + external.offset);
    onnx::set_external_data(*external.tensor, kInMemory, address,
                            static_cast<std::uint64_t>(external.length));
  }
  read.graph = core().read_model(model.SerializeAsString(), ov::Tensor());
  return read;
}

}  // namespace

ReadModel read_model(const std::string& file) {
  const auto suffix = model_suffix(file);
  if (suffix == ".onnx") {
    onnx::check_data_files(file);
    if (has_linked_data(file)) return read_with_mapped_data(file);
  }
  if (suffix == ".xml" && !file.ends_with(".xml"))
    if (const auto weights = weights_of_network(file); fs::exists(weights))
      return {core().read_model(file, weights.string())};
  return {core().read_model(file)};
}

}  // namespace paceline::openvino_plugin
