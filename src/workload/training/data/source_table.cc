// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "workload/training/data/sources.h"

namespace paceline::workload {
namespace {

enum class Makes { kImages, kTokens, kBoth };

struct SourceRow {
  std::string_view name;
  Makes makes;
  std::unique_ptr<Source> (*make)(const SourceSetup&);
};
constexpr std::array kSources{
    SourceRow{"synthetic", Makes::kBoth, make_synthetic},
    SourceRow{"cifar100", Makes::kImages, make_cifar100},
    SourceRow{"image_folder", Makes::kImages, make_image_folder},
    SourceRow{"token_file", Makes::kTokens, make_token_file},
    SourceRow{"npz", Makes::kImages, make_npz},
};

const SourceRow& find_source(const std::string& name) {
  const auto* row = std::find_if(kSources.begin(), kSources.end(), [&](auto& r) { return r.name == name; });
  if (row != kSources.end()) return *row;
  const auto nearest = nearest_name(name, source_names());
  throw Error(ErrorCode::kConfig, fmt::format("unknown data.source '{}'{}; there are: {}", name,
                                              nearest ? fmt::format(", did you mean '{}'?", *nearest) : "",
                                              join(source_names(), ", ")));
}

void check_model(const SourceRow& row, const SampleShape& shape) {
  const bool image = shape.channels > 0;
  const bool fits = row.makes == Makes::kBoth || (row.makes == Makes::kImages) == image;
  if (!fits)
    throw Error(
        ErrorCode::kConfig,
        fmt::format("data.source '{}' brings {}, the model takes {}; there are: {}", row.name,
                    image ? "tokens" : "images", image ? "images" : "tokens", join(source_names(), ", ")));
  if (image && row.makes == Makes::kImages && shape.channels != 3)
    throw Error(ErrorCode::kConfig, fmt::format("data.source '{}' brings images of 3 channels, the model "
                                                "takes {}",
                                                row.name, shape.channels));
}

}  // namespace

std::vector<std::string> source_names() {
  std::vector<std::string> names;
  for (const auto& row : kSources) names.emplace_back(row.name);
  return names;
}

std::unique_ptr<Source> make_source(const SourceSetup& setup) {
  const SourceRow& row = find_source(setup.data.source);
  check_model(row, setup.shape);
  return row.make(setup);
}

}  // namespace paceline::workload
