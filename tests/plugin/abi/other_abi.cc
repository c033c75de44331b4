// SPDX-License-Identifier: MIT
// A plug-in of another ABI, for tests only. Nothing of it may run but its static objects and
// paceline_plugin(): everything else leaves the file that OTHER_ABI_RAN names, and aborts.
#include <cstdio>
#include <cstdlib>

#include "plugin/plugin.h"

namespace {

using namespace paceline::plugin;

[[noreturn]] void tell(const char* what) {
  if (const char* name = std::getenv("OTHER_ABI_RAN"))
    if (std::FILE* file = std::fopen(name, "a")) {
      std::fputs(what, file);
      std::fclose(file);
    }
  std::abort();
}

constexpr EngineEntry kEngines[] = {
    {"old", "an engine of another ABI", []() -> std::unique_ptr<Engine> { tell("make\n"); }}};
constexpr Plugin kOther{kAbiVersion + 1, "other",
                        []() -> std::vector<std::pair<std::string, std::string>> { tell("versions\n"); },
                        kEngines};

}  // namespace

extern "C" __attribute__((visibility("default"))) const Plugin* paceline_plugin() {
  return &kOther;
}
