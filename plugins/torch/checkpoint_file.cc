// SPDX-License-Identifier: MIT
#include "torch/checkpoint_file.h"

#include <ATen/core/ivalue.h>
#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>
#include <torch/csrc/jit/serialization/unpickler.h>

#include <array>
#include <fstream>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/pretrained_model.h"
#include "torch/errors.h"
#include "torch/tensors.h"

namespace paceline::torch_plugin {
namespace {

namespace fs = std::filesystem;

bool begins_with(const fs::path& path, std::string_view bytes) {
  std::string start(bytes.size(), '\0');
  std::ifstream(path, std::ios::binary).read(start.data(), std::ssize(start));
  return start == bytes;
}

// Where the attributes of an object begin, a dictionary that the pickler remembers: "}q" and a number of one
// byte, or "}r" and one of four. npos as `metadata`, or another form: there are none.
std::size_t attributes_at(std::string_view pickle, std::size_t metadata) {
  for (const auto& [mark, size] : {std::pair("}q", 3U), std::pair("}r", 6U)})
    if (metadata != std::string_view::npos && metadata >= size && pickle.substr(metadata - size, 2) == mark)
      return metadata - size;
  return pickle.size() - 1;
}

// LibTorch reads dictionaries but no OrderedDict, which a state_dict is: it begins with that class, called
// without arguments, and ends with an attribute _metadata. As a tuple of the class and a dictionary it can be
// read.
std::string with_plain_dictionary(std::string pickle) {
  using namespace std::string_view_literals;
  constexpr auto kBegin =
      "\x80\x02"
      "ccollections\nOrderedDict\nq\x00)R"sv;
  constexpr auto kMetadata = "X\x09\x00\x00\x00_metadata"sv;
  if (!pickle.starts_with(kBegin)) return pickle;
  const auto end = attributes_at(pickle, pickle.rfind(kMetadata));
  return "\x80\x02(" + pickle.substr(2, kBegin.size() - 4) + "}" +
         pickle.substr(kBegin.size(), end - kBegin.size()) + "t.";
}

c10::IValue unpickled(const fs::path& path) {
  caffe2::serialize::PyTorchStreamReader archive(path.string());
  const auto [data, size] = archive.getRecord("data.pkl");
  const auto pickle = with_plain_dictionary({static_cast<const char*>(data.get()), size});
  std::size_t at = 0;
  const auto read = [&](char* to, std::size_t wanted) {
    const auto count = pickle.copy(to, wanted, at);
    at += count;
    return count;
  };
  const auto storage = [&](const std::string& name) {
    return std::get<0>(archive.getRecord("data/" + name));
  };
  torch::jit::Unpickler unpickler(read, nullptr, nullptr, storage, at::kCPU);
  return unpickler.parse_ivalue();
}

// The dictionary of tensors in what torch.save wrote.
c10::impl::GenericDict state_of(const fs::path& path) {
  try {
    const auto value = unpickled(path);
    if (value.isGenericDict()) return value.toGenericDict();
    if (value.isTuple() && value.toTupleRef().elements().size() == 2 &&
        value.toTupleRef().elements()[1].isGenericDict())
      return value.toTupleRef().elements()[1].toGenericDict();
  } catch (const std::exception& e) {
    if (out_of_memory(e)) throw std::bad_alloc();
  }
  throw Error(ErrorCode::kData, fmt::format("'{}' is not a plain dictionary of tensors; save it with "
                                            "torch.save(model.state_dict(), FILE) or save_pretrained",
                                            path.string()));
}

}  // namespace

bool is_old_pickle(const fs::path& path) {
  using namespace std::string_view_literals;
  return begins_with(path, "\x80\x02\x8a\x0a"sv);  // its magic number comes first
}

CheckpointFile::CheckpointFile(const fs::path& path) {
  if (path.string().ends_with(kWeightsIndex))
    add_indexed(path);
  else
    add(path);
}

void CheckpointFile::add(const fs::path& path) {
  check_regular_file(path);
  if (is_old_pickle(path))
    throw Error(
        ErrorCode::kData,
        fmt::format(
            "'{0}' was written by torch.save in the format before PyTorch 1.6; write it again: python3 "
            "-c \"import torch; torch.save(torch.load('{0}', weights_only=True), '{0}')\"",
            path.string()));
  if (begins_with(path, "PK\x03\x04")) return add_pickle(path);
  const auto& file = files_.emplace_back(std::make_unique<SafetensorsFile>(path));
  tensors_.insert(file->tensors().begin(), file->tensors().end());
}

void CheckpointFile::add_indexed(const fs::path& index) {
  const auto listed = indexed_weights(index);
  std::set<fs::path> parts;
  for (const auto& [tensor, part] : listed) parts.insert(part);
  for (const auto& part : parts) add(part);
  for (const auto& [tensor, part] : listed)
    if (!tensors_.contains(tensor))
      throw Error(
          ErrorCode::kData,
          fmt::format(
              "'{}' lists tensor {} in '{}', but that file does not contain it; copy the folder again",
              index.string(), tensor, part.filename().string()));
}

void CheckpointFile::add_pickle(const fs::path& path) {
  for (const auto& entry : state_of(path)) {
    if (!entry.key().isString() || !entry.value().isTensor()) continue;
    const auto& tensor = kept_.emplace_back(entry.value().toTensor().detach().contiguous());
    tensors_[entry.key().toStringRef()] = {
        from_torch(tensor.scalar_type()),
        Shape(tensor.sizes().begin(), tensor.sizes().end()),
        {static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes()}};
  }
}

}  // namespace paceline::torch_plugin
