// SPDX-License-Identifier: MIT
#include "workload/training/data/held_out.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include "workload/training/data/cifar.h"

namespace paceline::workload {
namespace fs = std::filesystem;
namespace {

constexpr std::array<std::string_view, 2> kHeldOutFolders{"val", "test"};

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// Empty where there is none.
fs::path held_out_folder(const pass::DataSpec& data) {
  const fs::path root = data.path;
  if (!is_folder(root / "train")) return {};
  const auto* name = std::find_if(kHeldOutFolders.begin(), kHeldOutFolders.end(),
                                  [&](auto one) { return is_folder(root / one); });
  return name == kHeldOutFolders.end() ? fs::path() : root / *name;
}

bool folder_has_it(const pass::DataSpec& data) {
  return !held_out_folder(data).empty();
}

bool cifar10_has_it(const pass::DataSpec& data) {
  return has_cifar(data.path, kCifar10, CifarPart::kTest);
}
bool cifar100_has_it(const pass::DataSpec& data) {
  return has_cifar(data.path, kCifar100, CifarPart::kTest);
}

struct HoldsOut {
  std::string_view source;
  bool (*has)(const pass::DataSpec&);
};
constexpr std::array kHoldsOut{HoldsOut{"cifar10", cifar10_has_it}, HoldsOut{"cifar100", cifar100_has_it},
                               HoldsOut{"image_folder", folder_has_it}};

}  // namespace

bool has_held_out(const pass::DataSpec& data) {
  const auto* row = std::find_if(kHoldsOut.begin(), kHoldsOut.end(),
                                 [&](const HoldsOut& r) { return r.source == data.source; });
  return row != kHoldsOut.end() && row->has(data);
}

fs::path image_folder_of(const pass::DataSpec& data) {
  const auto held_out = held_out_folder(data);
  if (held_out.empty()) return data.path;
  return data.held_out ? held_out : fs::path(data.path) / "train";
}

}  // namespace paceline::workload
