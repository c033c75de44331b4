// SPDX-License-Identifier: MIT
// A library that sets the locale of its process, as some do when they are loaded; for LD_PRELOAD.
#include <clocale>
#include <locale>
#include <stdexcept>

namespace {

[[maybe_unused]] const bool kSet = [] {
  if (std::setlocale(LC_ALL, "") == nullptr) return false;
  try {
    std::locale::global(std::locale(""));  // that of C++ streams
  } catch (const std::runtime_error&) {
    return false;
  }
  return true;
}();

}  // namespace
