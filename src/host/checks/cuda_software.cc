// SPDX-License-Identifier: MIT
#include "host/checks/cuda_software.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace paceline::host {
namespace {

using Version = std::vector<long long>;

// The first driver of each major version of CUDA, from the CUDA Compatibility guide.
struct FirstDriver {
  long long cuda;  // NOLINT(google-runtime-int)
  const char* driver;
};
constexpr std::array<FirstDriver, 3> kFirstDrivers{{{11, "450.80.02"}, {12, "525.60.13"}, {13, "580.65.06"}}};

constexpr std::array<std::string_view, 5> kLibraries{"CUDA runtime", "cuDNN", "NCCL", "TensorRT",
                                                     "TensorRT-RTX"};

// Numbers between points; another part ends them.
Version numbers_of(const std::string& text) {
  Version numbers;
  for (const auto& part : split(text, '.')) {
    const auto number = parse_int(part);
    if (!number) break;
    numbers.push_back(*number);
  }
  return numbers;
}

Version numbers_of(const Maybe<std::string>& text) {
  return text ? numbers_of(*text) : Version{};
}

// Accepts "library NAME" and "library NAME of plug-in OTHER".
bool is_of(const Fact& fact, std::string_view library) {
  const auto name = fmt::format("library {}", library);
  return fact.name == name || fact.name.starts_with(name + " of plug-in ");
}

std::string driver_in_words(const NvidiaDriver& driver) {
  auto text = fmt::format("driver {}", driver.version ? *driver.version : "not known");
  if (driver.cuda_version) text += fmt::format(" (CUDA up to {})", *driver.cuda_version);
  return text;
}

}  // namespace

DriverProblem driver_problem(const NvidiaDriver& driver, const std::string& runtime) {
  const auto needed = numbers_of(runtime), newest = numbers_of(driver.cuda_version),
             installed = numbers_of(driver.version);
  if (needed.empty() || (newest.empty() && installed.empty())) return {};
  if (!newest.empty() && newest >= needed) return {};
  const auto* const first = std::ranges::find(kFirstDrivers, needed.front(), &FirstDriver::cuda);
  const bool known = first != kFirstDrivers.end();
  const bool other_major = !newest.empty() && newest.front() < needed.front();
  if (!other_major && (!known || installed.empty() || installed >= numbers_of(std::string(first->driver))))
    return {};
  return {fmt::format("{} is too old for CUDA runtime {}", driver_in_words(driver), runtime),
          fmt::format("install {}, or libraries that are built for an older CUDA",
                      known ? fmt::format("driver {} or newer", first->driver)
                            : fmt::format("a driver for CUDA {}", needed.front()))};
}

CheckResult check_cuda_software(const NvidiaDriver& driver, const std::vector<Fact>& facts) {
  std::vector<std::string> words{driver_in_words(driver)}, problems, fixes;
  for (const auto& library : kLibraries)
    for (const auto& fact : facts) {
      if (!is_of(fact, library) || !fact.value.is_string()) continue;
      const auto version = fact.value.get<std::string>();
      words.push_back(fmt::format("{} {}", fact.name.substr(std::string_view("library ").size()), version));
      if (library != kLibraries.front()) continue;
      if (auto [text, fix] = driver_problem(driver, version); !text.empty())
        problems.push_back(std::move(text)), fixes.push_back(std::move(fix));
    }
  if (!problems.empty()) return {CheckStatus::kFail, join(problems, "; "), join(fixes, "; ")};
  if (words.size() == 1)
    return {CheckStatus::kSkip, words.front() + ", but no plug-in here brings a library for it", {}};
  return {CheckStatus::kPass, join(words, ", "), {}};
}

}  // namespace paceline::host
