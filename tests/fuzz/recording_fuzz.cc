// SPDX-License-Identifier: MIT
// Any text is a recording of the monitor or an Error; its snapshots are shown, and written and read again.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "monitor/exposition.h"
#include "monitor/recording.h"
#include "monitor/view.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  paceline::monitor::Recording recording;
  try {
    recording = paceline::monitor::recording_in(text, "fuzzed.jsonl");
  } catch (const paceline::Error&) {
    return 0;
  }
  const paceline::monitor::Snapshot* before = nullptr;
  for (const auto& snapshot : recording.snapshots) {
    plain_lines(snapshot, before);
    exposition(snapshot);
    const auto json = to_json(snapshot);
    if (to_json(paceline::monitor::snapshot_of(json)) != json) std::abort();
    before = &snapshot;
  }
  return 0;
}
