// SPDX-License-Identifier: MIT
// Every source in one table.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/data_source.h"
#include "base/error.h"
#include "base/text.h"
#include "workload/training/data/sources.h"

namespace paceline::workload {
namespace {

using Make = std::unique_ptr<Source> (*)(const SourceSetup&);

struct SourceRow {
  std::string_view name;
  Make make;
};
constexpr std::array kMakers{
    SourceRow{"synthetic", make_synthetic},   SourceRow{"cifar10", make_cifar10},
    SourceRow{"cifar100", make_cifar100},     SourceRow{"image_folder", make_image_folder},
    SourceRow{"token_file", make_token_file}, SourceRow{"npz", make_npz},
};
static_assert(std::ranges::equal(kMakers, kDataSources, {}, &SourceRow::name, &DataSource::name),
              "one maker for each source, in their order");

std::vector<std::string> source_names() {
  std::vector<std::string> names;
  for (const auto& source : kDataSources) names.emplace_back(source.name);
  return names;
}

const DataSource& find_source(const std::string& name) {
  const auto* row = std::ranges::find(kDataSources, name, &DataSource::name);
  if (row != kDataSources.end()) return *row;
  const auto nearest = nearest_name(name, source_names());
  throw Error(ErrorCode::kConfig, fmt::format("unknown data.source '{}'{}; there are: {}", name,
                                              nearest ? fmt::format(", did you mean '{}'?", *nearest) : "",
                                              join(source_names(), ", ")));
}

Make maker_of(const DataSource& source) {
  return std::ranges::find(kMakers, source.name, &SourceRow::name)->make;
}

void check_model(const DataSource& source, const SampleShape& shape) {
  const bool image = shape.channels > 0;
  const std::string_view wanted = image ? "images" : "sequences";
  if (!source.item.empty() && source.item != wanted)
    throw Error(ErrorCode::kConfig,
                fmt::format("data.source '{}' brings {}, the model takes {}; there are: {}", source.name,
                            source.item, wanted, join(source_names(), ", ")));
  if (source.item == "images" && shape.channels != 3)
    throw Error(ErrorCode::kConfig,
                fmt::format("data.source '{}' brings images of 3 channels, the model takes {}", source.name,
                            shape.channels));
}

}  // namespace

std::unique_ptr<Source> make_source(const SourceSetup& setup) {
  const DataSource& source = find_source(setup.data.source);
  check_model(source, setup.shape);
  return maker_of(source)(setup);
}

}  // namespace paceline::workload
