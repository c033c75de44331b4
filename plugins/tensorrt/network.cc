// SPDX-License-Identifier: MIT
#include "tensorrt/network.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/error.h"
#include "support/engine_checks.h"
#include "tensorrt/tensors.h"
#include "tensorrt/versions.h"

namespace paceline::tensorrt_plugin {
namespace {

using ParserCode = nvonnxparser::ErrorCode;

constexpr int kMostErrors = 3;  // a model of another framework may cause hundreds of the same kind

constexpr const char* kNoOperator = "Plugin not found";  // an unknown operator is taken for a plug-in
constexpr plugin_support::Advice kAdvice[] = {
    {"Failed to import initializer", plugin_support::kDataFileAdvice},
    {"Failed to parse", plugin_support::kDamagedAdvice},
    {"(node '", plugin_support::kOperatorAdvice},
};

std::string text_of(const char* text) {
  return text ? text : "";
}

// An error that names a node means that the library cannot handle the node, whatever the error's code.
bool is_unsupported(const nvonnxparser::IParserError& error) {
  return !place_of(error).type.empty() ||
         (error.code() >= ParserCode::kUNSUPPORTED_GRAPH && error.code() <= kLastUnsupported);
}

// "operator NonZero (node 'nz_3'): <the library's words>".
std::string describe(const nvonnxparser::IParserError& error) {
  const auto [type, node] = place_of(error);
  auto words = plain_words(text_of(error.desc()));
  if (words.find(kNoOperator) != std::string::npos) words = "unknown";
  return type.empty() ? words : fmt::format("operator {} (node '{}'): {}", type, node, words);
}

[[noreturn]] void report(const nvonnxparser::IParser& parser, const MessageLog& log, const Library& library,
                         const std::string& file) {
  std::vector<std::string> words;
  bool unsupported = false;
  for (int i = 0; i < parser.getNbErrors() && i < kMostErrors; ++i) {
    words.push_back(describe(*parser.getError(i)));
    unsupported = unsupported || is_unsupported(*parser.getError(i));
  }
  if (words.empty()) words.push_back(log.reason());
  if (const int more = parser.getNbErrors() - kMostErrors; more > 0)
    words.push_back(fmt::format("and {} more", more));
  throw Error(
      unsupported ? ErrorCode::kUnsupported : ErrorCode::kData,
      plugin_support::with_advice(
          fmt::format("{} cannot read '{}': {}", library.title(), file, fmt::join(words, "; ")), kAdvice));
}

}  // namespace

Network read_network(const Library& library, nvinfer1::IBuilder& builder, MessageLog& log,
                     const std::string& onnx_file) {
  Network network;
  network.definition.reset(builder.createNetworkV2(kNetworkFlags));
  if (network.definition) network.parser = library.make_parser(*network.definition, log);
  if (!network.parser)
    throw Error(ErrorCode::kUnavailable,
                fmt::format("{} cannot start its ONNX parser: {}", library.title(), log.reason()));
  const int level = static_cast<int>(nvinfer1::ILogger::Severity::kWARNING);
  if (!network.parser->parseFromFile(onnx_file.c_str(), level))
    report(*network.parser, log, library, onnx_file);
  if (network.definition->getNbInputs() == 0)
    throw Error(ErrorCode::kData, fmt::format("'{}' contains no model with inputs; {}", onnx_file,
                                              plugin_support::kDamagedAdvice));
  return network;
}

std::string layer_types(const nvinfer1::INetworkDefinition& definition) {
  std::map<std::string, int> counts;
  for (int i = 0; i < definition.getNbLayers(); ++i)
    if (const auto* output = definition.getLayer(i)->getOutput(0))
      ++counts[std::string(type_name(output->getType()))];
  std::vector<std::string> words;
  for (const auto& [type, count] : counts) words.push_back(fmt::format("{} {}", type, count));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace paceline::tensorrt_plugin
