// SPDX-License-Identifier: MIT
#pragma once
#include <c10/util/Exception.h>

#include <string>

#include "base/error.h"

namespace paceline::torch_plugin {

// The first lines that a person can use: no C++ backtrace, no blank lines.
inline std::string reason_of(const std::exception& exception) {
  const auto* torch = dynamic_cast<const c10::Error*>(&exception);
  std::string text = torch ? torch->what_without_backtrace() : exception.what();
  text.resize(std::min(text.find("\nException raised from"), text.size()));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.find("Traceback of TorchScript") != std::string::npos)
    text.erase(
        0, text.rfind('\n') + 1);  // the model's own source lines say nothing to its user; the last line does
  return text;
}

// Runs `work`; what LibTorch throws becomes Error(code, "<what>: <reason>").
template <typename Work>
auto translate_errors(ErrorCode code, const std::string& what, Work&& work) {
  try {
    return work();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    throw Error(code, what + ": " + reason_of(e));
  }
}

}  // namespace paceline::torch_plugin
