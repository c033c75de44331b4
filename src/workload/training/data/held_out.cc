// SPDX-License-Identifier: MIT
#include "workload/training/data/held_out.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/picture_files.h"
#include "workload/training/data/cifar.h"

namespace paceline::workload {
namespace fs = std::filesystem;
namespace {

bool folder_has_it(const pass::DataSpec& data) {
  return !picture_folders(data.path).held_out.empty();
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
  auto folders = picture_folders(data.path);
  return data.held_out && !folders.held_out.empty() ? folders.held_out : folders.training;
}

}  // namespace paceline::workload
