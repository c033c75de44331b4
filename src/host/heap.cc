// SPDX-License-Identifier: MIT
#include "host/heap.h"

#include <malloc.h>
#include <unistd.h>

#include <string_view>

namespace paceline::host {
namespace {

constexpr int kGrowthBytes = 64 << 20;  // fewer, larger steps of the heap's end
constexpr std::string_view kInCharge[] = {"PACELINE_HEAP=default", "MALLOC_", "GLIBC_TUNABLES="};

std::string variable_in_charge() {
  for (char** entry = environ; entry && *entry; ++entry)
    for (const std::string_view start : kInCharge)
      if (const std::string_view text(*entry); text.starts_with(start))
        return std::string(text.substr(0, text.find('=')));
  return {};
}

}  // namespace

std::string keep_freed_memory() {
  if (const std::string name = variable_in_charge(); !name.empty()) return "as " + name + " says";
#ifdef __GLIBC__
  const bool kept = ::mallopt(M_MMAP_MAX, 0) != 0 && ::mallopt(M_TRIM_THRESHOLD, -1) != 0 &&
                    ::mallopt(M_TOP_PAD, kGrowthBytes) != 0;
  if (kept) return "keeps freed memory";
#endif
  return "default of the C library";
}

}  // namespace paceline::host
