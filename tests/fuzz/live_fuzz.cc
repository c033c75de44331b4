// SPDX-License-Identifier: MIT
// Any live.json of a run is shown, and goes through a recording without a change.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/bounded_json.h"
#include "base/foreign_text.h"
#include "monitor/live_run.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto json = paceline::json_or_discarded(text);
  if (!json.is_object()) return 0;
  const auto run = paceline::monitor::read_live_file(json);
  if (run.label.size() > paceline::kLiveText) std::abort();
  in_words(run);
  const auto written = to_json(run);
  if (to_json(paceline::monitor::live_run_of(written)) != written) std::abort();
  return 0;
}
