// SPDX-License-Identifier: MIT
#include "host/machine/heap.h"

#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/text.h"

namespace paceline::host {
namespace {

constexpr int kGrowthBytes = 64 << 20;  // the heap grows in fewer, larger steps
constexpr std::string_view kOfTheLibrary[] = {"MALLOC_", "GLIBC_TUNABLES="};

// The name of the first variable in a block of NAME=VALUE entries that configures the C library's heap.
std::string library_variable(std::string_view block) {
  for (const auto& entry : split(block, '\0'))
    for (const std::string_view start : kOfTheLibrary)
      if (entry.starts_with(start)) return std::string(entry.substr(0, entry.find('=')));
  return {};
}

std::string environment_now() {
  std::string block;
  for (char** entry = environ; entry && *entry; ++entry) block.append(*entry) += '\0';
  return block;
}

}  // namespace

std::string other_allocator() {
  Dl_info in_charge{}, library{};
  if (::dladdr(::dlsym(RTLD_DEFAULT, "malloc"), &in_charge) == 0 || !in_charge.dli_fname) return {};
  const bool known = ::dladdr(::dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &library) != 0;
  if (!known || in_charge.dli_fbase == library.dli_fbase) return {};
  return std::filesystem::path(in_charge.dli_fname).filename().string();
}

std::string keep_freed_memory(const SystemFiles& files, const std::string& allocator) {
  if (!allocator.empty()) return "as " + allocator + " decides";
  const char* const own = std::getenv("PACELINE_HEAP");
  if (own && std::string_view(own) == "default") return "as PACELINE_HEAP says";
  const std::string now = environment_now();
  const std::string in_charge = library_variable(files.read("proc/self/environ").value_or(now));
  if (!in_charge.empty()) return "as " + in_charge + " says";
#ifdef __GLIBC__
  const bool kept = ::mallopt(M_MMAP_MAX, 0) != 0 && ::mallopt(M_TRIM_THRESHOLD, -1) != 0 &&
                    ::mallopt(M_TOP_PAD, kGrowthBytes) != 0;
  const std::string late = library_variable(now);
  if (kept && !late.empty()) return "keeps freed memory; " + late + " was set too late to have an effect";
  if (kept) return "keeps freed memory";
#endif
  return "default of the C library";
}

}  // namespace paceline::host
