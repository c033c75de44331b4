// SPDX-License-Identifier: MIT
#include "onnx/model_file.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/model_content.h"
#include "base/reading.h"
#include "base/text.h"
#include "onnx/model_checks.h"
#include "onnx/wire.h"

namespace paceline::onnx {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kAlignment = 4096;    // of a tensor in the data file, so that readers can map it
constexpr std::int64_t kStaysInside = 1024;  // small tensors are shapes and scales: engines need them

struct External {
  std::string location;
  std::int64_t offset = 0;
  std::int64_t length = -1;  // -1: to the end of the file

  void take(std::string_view key, const std::string& value) {
    if (key == "location") location = value;
    if (key == "offset") offset = parse_int(value).value_or(-1);
    if (key == "length") length = parse_int(value).value_or(-1);
  }
};

void for_each_tensor(proto::GraphProto& graph, const std::function<void(proto::TensorProto&)>& visit) {
  for (auto& tensor : *graph.mutable_initializer()) visit(tensor);
  for (auto& node : *graph.mutable_node())
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) visit(*attribute.mutable_t());
      if (attribute.has_g()) for_each_tensor(*attribute.mutable_g(), visit);
    }
}

bool is_external(const proto::TensorProto& tensor) {
  return tensor.data_location() == proto::TensorProto::EXTERNAL;
}

External external_of(const proto::TensorProto& tensor) {
  External e;
  for (const auto& entry : tensor.external_data()) e.take(entry.key(), entry.value());
  return e;
}

// External data must lie inside the model's folder.
bool is_inside(const fs::path& location) {
  return !location.empty() && !location.is_absolute() &&
         !location.lexically_normal().string().starts_with("..");
}

// Where Hugging Face's cache has the files that the links of a model in snapshots/ lead to. Empty: it is
// none.
fs::path blobs_of(const fs::path& folder) {
  std::error_code error;
  for (auto at = folder; at.has_relative_path(); at = at.parent_path())
    if (const auto blobs = at.parent_path() / "blobs";
        at.filename() == "snapshots" && fs::is_directory(blobs, error))
      return blobs;
  return {};
}

// Links of a data file may lead through the model's folder, that of the file which the model is a link to,
// and the cache's blobs. One that leaves them could read any file of the user's.
void check_links(const fs::path& model, const fs::path& location) {
  std::error_code missing;
  const auto folder = fs::weakly_canonical(fs::absolute(model).parent_path(), missing);
  const auto file = fs::canonical(folder / location, missing);
  if (missing) return;  // its reader says so
  for (const auto& root : {folder, fs::weakly_canonical(model, missing).parent_path(), blobs_of(folder)})
    if (!root.empty() &&
        std::mismatch(root.begin(), root.end(), file.begin(), file.end()).first == root.end())
      return;
  throw Error(ErrorCode::kData,
              fmt::format("'{}' has weights in '{}', a link to '{}' outside the model's folder, which is not "
                          "followed; copy the data file into the model's folder",
                          shown_path(model.string()), location.string(), shown_path(file.string())));
}

fs::path data_file_of(const fs::path& model, const proto::TensorProto& tensor, const External& e) {
  const fs::path location(e.location);
  if (!is_inside(location) || e.offset < 0)
    throw Error(
        ErrorCode::kData,
        fmt::format(
            "'{}': tensor '{}' names external data '{}' at offset {}, which is not a place beside the model",
            model.string(), tensor.name(), e.location, e.offset));
  check_links(model, location);
  return model.parent_path() / location;
}

ExternalTensor locate(const fs::path& model, proto::TensorProto& tensor) {
  const External e = external_of(tensor);
  const fs::path file = data_file_of(model, tensor, e);
  std::error_code error;
  const auto size = static_cast<std::int64_t>(fs::file_size(file, error));
  if (error)
    throw Error(ErrorCode::kData,
                fmt::format("'{}' keeps tensor '{}' in '{}', which is not there; copy both files",
                            model.string(), tensor.name(), file.string()));
  if (const auto why = no_data_file(file))
    throw Error(ErrorCode::kData, fmt::format("'{}' keeps tensor '{}' in '{}', which {}", model.string(),
                                              tensor.name(), file.string(), *why));
  const std::int64_t length = e.length >= 0 ? e.length : size - e.offset;
  if (length < 0 || length > size - e.offset)
    throw Error(ErrorCode::kData,
                fmt::format("'{}' is cut short: tensor '{}' needs bytes {} to {}, the file has {}",
                            file.string(), tensor.name(), e.offset, e.offset + length, size));
  return {&tensor, file, e.offset, length};
}

void load_external(const ExternalTensor& external) {
  auto& tensor = *external.tensor;
  std::string& bytes = *tensor.mutable_raw_data();
  bytes.resize(static_cast<std::size_t>(external.length));
  check_regular_file(external.file);
  std::ifstream stream(external.file, std::ios::binary);
  if (!stream.seekg(external.offset).read(bytes.data(), external.length))
    throw Error(ErrorCode::kIo, fmt::format("cannot read '{}'", external.file.string()));
  tensor.clear_external_data();
  tensor.clear_data_location();
}

std::int64_t weight_bytes(proto::GraphProto& graph) {
  std::int64_t bytes = 0;
  for (const auto& tensor : graph.initializer()) bytes += static_cast<std::int64_t>(tensor.raw_data().size());
  return bytes;
}

void add_entry(proto::TensorProto& tensor, const std::string& key, const std::string& value) {
  auto& entry = *tensor.add_external_data();
  entry.set_key(key);
  entry.set_value(value);
}

}  // namespace

void set_external_data(proto::TensorProto& tensor, const std::string& location, std::uint64_t offset,
                       std::uint64_t length) {
  tensor.clear_external_data();
  add_entry(tensor, "location", location);
  add_entry(tensor, "offset", fmt::format("{}", offset));
  add_entry(tensor, "length", fmt::format("{}", length));
}

namespace {

// Moves the bytes of large initializers into a file during its lifetime, and back.
class ExternalData {
 public:
  ExternalData(proto::GraphProto& graph, const fs::path& file) {
    const fs::path partial = file.string() + ".partial";
    check_own_name(partial);
    std::ofstream stream(partial, std::ios::binary | std::ios::trunc);
    for (auto& tensor : *graph.mutable_initializer())
      if (static_cast<std::int64_t>(tensor.raw_data().size()) > kStaysInside)
        move_out(tensor, stream, file.filename());
    stream.close();
    if (!stream)
      throw Error(ErrorCode::kIo, fmt::format("cannot write '{}'; is the disk full?", partial.string()));
    fs::rename(partial, file);
  }
  ~ExternalData() {
    for (auto& [tensor, bytes] : moved_) {
      tensor->clear_external_data();
      tensor->clear_data_location();
      tensor->set_raw_data(std::move(bytes));
    }
  }
  ExternalData(const ExternalData&) = delete;
  ExternalData& operator=(const ExternalData&) = delete;

 private:
  void move_out(proto::TensorProto& tensor, std::ofstream& stream, const fs::path& name) {
    const auto end = static_cast<std::int64_t>(stream.tellp());
    const std::int64_t offset = (end + kAlignment - 1) / kAlignment * kAlignment;
    stream.seekp(offset);
    const std::string& bytes = tensor.raw_data();
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    set_external_data(tensor, name.string(), static_cast<std::uint64_t>(offset), bytes.size());
    tensor.set_data_location(proto::TensorProto::EXTERNAL);
    moved_.emplace_back(&tensor, std::move(*tensor.mutable_raw_data()));
    tensor.clear_raw_data();
  }

  std::vector<std::pair<proto::TensorProto*, std::string>> moved_;
};

proto::ModelProto parse(const fs::path& path) {
  std::error_code unknown;
  if (fs::status(path, unknown).type() == fs::file_type::not_found)
    throw Error(ErrorCode::kIo, fmt::format("cannot open model '{}': no such file", path.string()));
  static_cast<void>(ModelBytes(path));  // throws what is wrong with it as a whole
  std::ifstream stream(path, std::ios::binary);
  google::protobuf::io::IstreamInputStream input(&stream);
  google::protobuf::io::CodedInputStream coded(&input);
  coded.SetTotalBytesLimit(std::numeric_limits<int>::max());
  proto::ModelProto model;
  if (!model.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage() || !model.has_graph() ||
      model.graph().node_size() == 0)
    throw Error(
        ErrorCode::kData,
        fmt::format(
            "'{}' cannot be read as ONNX: it is damaged, cut short or something else; export it again",
            path.string()));
  if (model.graph().output_size() == 0)
    throw Error(
        ErrorCode::kData,
        fmt::format("'{}' names no outputs, so there is nothing to compute; export it again with its outputs",
                    path.string()));
  return model;
}

}  // namespace

proto::ModelProto read_without_data(const fs::path& path) {
  return parse(path);
}

std::vector<ExternalTensor> external_tensors(proto::ModelProto& model, const fs::path& path) {
  std::vector<ExternalTensor> tensors;
  for_each_tensor(*model.mutable_graph(), [&](proto::TensorProto& tensor) {
    if (is_external(tensor)) tensors.push_back(locate(path, tensor));
  });
  return tensors;
}

proto::ModelProto read_model(const fs::path& path) {
  auto model = parse(path);
  for (const auto& external : external_tensors(model, path)) load_external(external);
  check_graph(model.graph(), path.string());
  return model;
}

void write_model(proto::ModelProto& model, const fs::path& path, const WriteOptions& options) {
  std::optional<ExternalData> external;
  if (weight_bytes(*model.mutable_graph()) > options.external_data_above_bytes)
    external.emplace(*model.mutable_graph(), fs::path(path.string() + ".data"));
  write_file_atomic(path, model.SerializeAsString());
}

namespace {

constexpr int kMostNested = 100;  // as deep as protocol buffers' own reader goes

// Visits the messages of all tensors, those of nodes and of graphs inside nodes, too.
void for_each_tensor(std::string_view graph, const std::function<void(std::string_view)>& visit,
                     int depth = 0) {
  if (depth > kMostNested) return;
  const auto each = [](std::string_view message, std::uint64_t number, const auto& use) {
    wire::Message fields(message);
    while (const auto field = fields.next(number)) use(field->bytes);
  };
  each(graph, wire::kInitializer, visit);
  each(graph, wire::kNode, [&](std::string_view node) {
    each(node, wire::kAttribute, [&](std::string_view attribute) {
      for (const auto tensors : {wire::kOneTensor, wire::kTensors}) each(attribute, tensors, visit);
      for (const auto graphs : {wire::kOneGraph, wire::kGraphs})
        each(attribute, graphs, [&](std::string_view inner) { for_each_tensor(inner, visit, depth + 1); });
    });
  });
}

// Without a location: the tensor is in the model itself.
External external_of(std::string_view tensor) {
  External e;
  wire::Message entries(tensor);
  while (const auto entry = entries.next(wire::kExternalData))
    e.take(wire::first_bytes(entry->bytes, wire::kKey),
           std::string(wire::first_bytes(entry->bytes, wire::kValue)));
  return e;
}

// A missing file is left to its reader.
void check_length(const fs::path& model, const fs::path& location, std::int64_t end,
                  const std::string& tensor) {
  const auto file = model.parent_path() / location;
  std::error_code error;
  const auto size = static_cast<std::int64_t>(fs::file_size(file, error));
  if (error || end <= size) return;
  const auto why = no_data_file(file);
  throw Error(ErrorCode::kData,
              fmt::format("'{}' {}", shown_path(file.string()),
                          !why ? fmt::format("is cut short: tensor '{}' of '{}' needs {} bytes, and the "
                                             "file has {}; copy or download it again",
                                             tensor, shown_path(model.string()), end, size)
                               : *why));
}

}  // namespace

void check_data_files(const fs::path& path) {
  if (no_regular_file(path)) return;
  const ModelBytes model(path);
  std::map<std::string, std::pair<std::int64_t, std::string>>
      ends;  // by location: the last byte, whose it is
  for_each_tensor(wire::first_bytes(model.bytes(), wire::kGraph), [&](std::string_view tensor) {
    const auto e = external_of(tensor);
    if (!is_inside(e.location)) return;
    auto& [end, name] = ends[e.location];
    if (std::int64_t own = 0;
        !__builtin_add_overflow(e.offset, std::max<std::int64_t>(e.length, 0), &own) && own >= end)
      end = own, name = std::string(wire::first_bytes(tensor, wire::kTensorName));
  });
  for (const auto& [location, last] : ends) {
    check_links(path, location);
    check_length(path, location, last.first, last.second);
  }
}

std::set<fs::path> files_on_disk(const fs::path& path) {
  std::set<fs::path> files{path};
  const ModelBytes model(path);
  for_each_tensor(wire::first_bytes(model.bytes(), wire::kGraph), [&](std::string_view tensor) {
    if (const fs::path location = external_of(tensor).location; is_inside(location))
      files.insert(path.parent_path() / location);
  });
  return files;
}

std::int64_t size_on_disk(const fs::path& path) {
  std::int64_t bytes = 0;
  for (const auto& file : files_on_disk(path)) {
    std::error_code missing;
    const auto size = fs::file_size(file, missing);
    if (!missing) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

}  // namespace paceline::onnx
