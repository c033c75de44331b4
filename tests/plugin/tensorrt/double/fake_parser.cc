// SPDX-License-Identifier: MIT
// Stands in for libnvonnxparser.so: reads the double's models.
#include <NvOnnxParser.h>

#include <fstream>

#include "fake_model.h"

namespace {

using nvonnxparser::ErrorCode;

struct ParserError : nvonnxparser::IParserError {
  ErrorCode why;
  std::string text, type, name;
  ParserError(ErrorCode code, std::string words, std::string op = "", std::string node = "")
      : why(code), text(std::move(words)), type(std::move(op)), name(std::move(node)) {}
  ErrorCode code() const override { return why; }
  char const* desc() const override { return text.c_str(); }
  char const* nodeName() const override { return name.c_str(); }
  char const* nodeOperator() const override { return type.c_str(); }
};

struct Parser : nvonnxparser::IParser {
  fake::Network& network;
  std::vector<ParserError> errors;
  explicit Parser(fake::Network& into) : network(into) {}

  bool parseFromFile(char const* file, int) noexcept override {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) read_line(line);
    return errors.empty();
  }

  void read_line(const std::string& line) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "input") {
      network.inputs.push_back(fake::read_tensor(words));
    } else if (what == "layer") {
      network.layers.emplace_back().output = fake::read_tensor(words);
    } else if (what == "unsupported") {
      std::string type, name;
      words >> type >> name;
      errors.emplace_back(ErrorCode::kUNSUPPORTED_NODE, fake::rest_of(words), type, name);
    } else if (what == "nonsense") {
      errors.emplace_back(ErrorCode::kMODEL_DESERIALIZE_FAILED,
                          "Assertion failed: stream.good(): Failed to parse the file.");
    }
    network.lines.push_back(line);
  }

  int getNbErrors() const noexcept override { return static_cast<int>(errors.size()); }
  nvonnxparser::IParserError const* getError(int i) const noexcept override {
    return &errors.at(static_cast<std::size_t>(i));
  }
};

}  // namespace

extern "C" void* createNvOnnxParser_INTERNAL(void* network, void*, int) {
  return new Parser(*static_cast<fake::Network*>(static_cast<nvinfer1::INetworkDefinition*>(network)));
}
