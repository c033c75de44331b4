// SPDX-License-Identifier: MIT
// Any text is a stored run, a case, or an Error; what was read once is written and read again without a
// change.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "result/stored/result_json.h"

namespace {

template <typename Read>
void check(const nlohmann::json& json, Read read) {
  nlohmann::json written;
  try {
    written = to_json(read(json, "fuzzed.json"));
  } catch (const paceline::Error&) {
    return;
  }
  if (to_json(read(written, "written.json")) != written) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace result = paceline::result;
  try {
    const auto json =
        result::parse_json(std::string(reinterpret_cast<const char*>(data), size), "fuzzed.json");
    check(json, result::run_from_json);
    check(json, result::case_from_json);
  } catch (const paceline::Error&) {
  }
  return 0;
}
