// SPDX-License-Identifier: MIT
// Any text that a host prints is an answer, none, or an exception; a machine in it is read again as written.
#include <cstdint>
#include <exception>
#include <string>

#include "host/checks/fleet.h"
#include "host/checks/fleet_answer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const auto answer = paceline::host::fleet_answer(text, "node0");
    if (!answer || !answer->machine) return 0;
    auto other = paceline::host::machine_from_json(to_json(*answer->machine), "written");
    if (!other.facts.empty()) other.facts.pop_back();
    paceline::host::compare_fleet({*answer->machine, other});
  } catch (const std::exception&) {
  }
  return 0;
}
