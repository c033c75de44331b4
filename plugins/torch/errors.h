// SPDX-License-Identifier: MIT
#pragma once
#include <c10/util/Exception.h>

#include <algorithm>
#include <new>
#include <string>

#include "base/display_text.h"
#include "base/error.h"
#include "base/reading.h"

namespace paceline::torch_plugin {

// Turns LibTorch's exceptions into ours: the message in one line, no C++ backtrace, no source lines of the
// model, no general remarks.
inline std::string reason_of(const std::exception& exception) {
  const auto* torch = dynamic_cast<const c10::Error*>(&exception);
  std::string text = torch ? torch->what_without_backtrace() : exception.what();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.find("Traceback of TorchScript") != std::string::npos)
    text.erase(0, text.rfind('\n') + 1);  // only the last line helps the user of the model
  for (const char* rest :
       {"\nException raised from", "\nSerialized ", "\n\n", " This is an internal miniz error"})
    text.resize(std::min(text.find(rest), text.size()));
  if (const auto end = text.find("] . "); text.starts_with("[enforce fail at") && end != std::string::npos)
    text.erase(0, end + 4);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// Whether an allocation was refused, on the host or a device.
inline bool out_of_memory(const std::exception& exception) {
  if (dynamic_cast<const std::bad_alloc*>(&exception)) return true;
  const auto message = reason_of(exception);
  return message.find("can't allocate memory") != std::string::npos ||
         message.find("out of memory") != std::string::npos;
}

// Error(kData) unless the file exists.
inline void check_file(const std::string& path) {
  if (const auto why = no_regular_file(path))
    throw Error(ErrorCode::kData, "model '" + shown_path(path) + "' " + *why);
}

// Runs `work`; an exception of LibTorch becomes Error(code, "<what>: <reason>"), or std::bad_alloc where an
// allocation failed.
template <typename Work>
auto translate_errors(ErrorCode code, const std::string& what, Work&& work) {
  try {
    return work();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    if (out_of_memory(e)) throw std::bad_alloc();
    throw Error(code, what + ": " + reason_of(e));
  }
}

}  // namespace paceline::torch_plugin
