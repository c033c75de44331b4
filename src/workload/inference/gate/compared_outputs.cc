// SPDX-License-Identifier: MIT
#include "workload/inference/gate/compared_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/bounded_json.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/npy.h"

namespace paceline::workload {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::int64_t kKeptOfOthers =
    kKeptElements / 8;  // a model may have dozens of outputs beside the first

fs::path list_file(const fs::path& file) {
  return file.string() + ".outputs.json";
}

void leave_out(ComparedOutput& output, std::string why) {
  output.left_out = std::move(why);
  output.rows.values = {};
}

// Series of a yardstick by column, in the order of a file.
constexpr std::array kSeries{&Yardstick::inputs, &Yardstick::weights, &Yardstick::order, &Yardstick::layer,
                             &Yardstick::at_once};
constexpr double kNotTried = -1;

Json yardstick_json(const Yardstick& y) {
  Json flips = Json::array();
  for (std::size_t i = 0; i < y.flips.size(); ++i)
    if (y.flips[i]) flips.push_back(i);
  return {{"layer_name", y.layer_name},
          {"subnormal_weights", y.subnormal_weights},
          {"elements", y.flips.size()},
          {"flips", std::move(flips)}};
}

void write_series(const std::string& file, const Yardstick& y) {
  std::size_t columns = 0;
  for (const auto series : kSeries) columns = std::max(columns, (y.*series).size());
  Tensor tensor({"units", DType::kFloat64, {std::ssize(kSeries), static_cast<std::int64_t>(columns)}});
  auto* to = tensor.as<double>();
  for (const auto series : kSeries)
    for (std::size_t c = 0; c < columns; ++c) *to++ = (y.*series).empty() ? kNotTried : (y.*series)[c];
  if (columns > 0) write_npy(file, tensor.view());
}

void read_series(const std::string& file, Yardstick& y) {
  if (!fs::exists(file)) return;
  const Tensor tensor = read_npy(file);
  const auto columns = static_cast<std::size_t>(tensor.spec().shape.at(1));
  const auto* from = tensor.as<double>();
  for (const auto series : std::span(kSeries).first(
           std::min(kSeries.size(), static_cast<std::size_t>(tensor.spec().shape.at(0))))) {
    if (columns > 0 && *from != kNotTried) (y.*series).assign(from, from + columns);
    from += columns;
  }
}

std::optional<Yardstick> yardstick_of(const Json& entry, const std::string& units_file) {
  const auto it = entry.find("yardstick");
  if (it == entry.end()) return std::nullopt;
  Yardstick y;
  y.layer_name = it->at("layer_name");
  y.subnormal_weights = it->at("subnormal_weights");
  y.flips.assign(it->at("elements").get<std::size_t>(), false);
  for (const auto& i : it->at("flips")) y.flips.at(i.get<std::size_t>()) = true;
  read_series(units_file, y);
  return y;
}

// Keeps those of the samples that were read, from `first` on.
void keep_flips_of(Yardstick& y, const ComparedRows& rows, std::int64_t first) {
  if (y.flips.empty()) return;
  const std::int64_t width = rows.positions * rows.length;
  const auto begin = y.flips.begin() + std::min(first * width, std::ssize(y.flips));
  y.flips = std::vector<bool>(begin, begin + std::min(rows.samples * width, y.flips.end() - begin));
}

// Beside the reference `file`, of its output at `index`.
std::string units_file(const fs::path& file, std::size_t index) {
  return fmt::format("{}.{}.units.npy", file.string(), index);
}

void begin(ComparedOutputs& all, std::span<const TensorView> outputs, std::int64_t samples_planned) {
  for (const auto& output : outputs) {
    auto& rows = all.emplace_back().rows;
    rows.name = output.name;
    rows.samples_planned = samples_planned;
    if (all.size() > 1) rows.room = kKeptOfOthers;
  }
}

bool has_namesake(const ComparedOutput& one, const ComparedOutputs& others) {
  return !one.rows.name.empty() && std::any_of(others.begin(), others.end(), [&](const auto& other) {
    return other.rows.name == one.rows.name;
  });
}

}  // namespace

void append_outputs(ComparedOutputs& all, std::span<const TensorView> outputs, std::int64_t batch,
                    std::int64_t samples_planned) {
  if (outputs.empty()) throw Error(ErrorCode::kData, "the engine returned no output");
  if (all.empty()) begin(all, outputs, samples_planned);
  if (all.size() != outputs.size())
    throw Error(ErrorCode::kData,
                fmt::format("the number of outputs changes from batch to batch: {}, then {}", all.size(),
                            outputs.size()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].left_out.empty()) continue;
    if (auto problem = shape_problem(all[i].rows, outputs[i], batch); !problem.empty())
      leave_out(all[i], std::move(problem));
    else
      append_output(all[i].rows, outputs[i], batch);
  }
  if (std::all_of(all.begin(), all.end(), [](const auto& one) { return !one.left_out.empty(); }))
    throw Error(ErrorCode::kData, all.front().left_out);
}

ComparedOutputs select_samples(const ComparedOutputs& all, std::span<const std::int64_t> samples) {
  ComparedOutputs chosen;
  for (const auto& one : all)
    chosen.push_back({one.left_out.empty() ? select_samples(one.rows, samples) : one.rows, one.left_out});
  return chosen;
}

void write_reference(const fs::path& file, const ComparedOutputs& outputs) {
  Json list = Json::array();
  const ComparedRows* first = nullptr;
  for (const auto& [rows, left_out] : outputs) {
    Json entry{{"name", rows.name},
               {"left_out", left_out},
               {"suffix", ""},
               {"sample_shape", rows.sample_shape},
               {"all_positions", rows.all_positions}};
    if (rows.yardstick) {
      entry["yardstick"] = yardstick_json(*rows.yardstick);
      write_series(units_file(file, list.size()), *rows.yardstick);
    }
    if (left_out.empty() && !first) {
      if (!rows.finite)
        throw Error(ErrorCode::kData,
                    "the reference output contains NaN or infinity: check the weights and inputs");
      first = &rows;
    } else if (left_out.empty() && !rows.finite) {
      entry["left_out"] = "the reference's output contains NaN or infinity";
    } else if (left_out.empty()) {
      entry["suffix"] = fmt::format(".{}.npy", list.size());
      write_npy(file.string() + entry["suffix"].get<std::string>(), to_tensor(rows).view());
    }
    list.push_back(std::move(entry));
  }
  replace_file(list_file(file), list.dump());
  if (first) write_npy(file, to_tensor(*first).view());
}

ComparedOutputs read_reference(const fs::path& file, std::int64_t first, std::int64_t count) {
  const auto rows_of = [&](const fs::path& part) { return to_rows(read_npy_samples(part, first, count)); };
  if (!fs::exists(list_file(file))) return {{rows_of(file), ""}};
  ComparedOutputs outputs;
  for (const auto& entry : parsed_json(read_file(list_file(file)))) {
    auto& one = outputs.emplace_back();
    one.left_out = entry.at("left_out").get<std::string>();
    if (one.left_out.empty()) one.rows = rows_of(file.string() + entry.at("suffix").get<std::string>());
    one.rows.name = entry.at("name").get<std::string>();
    one.rows.sample_shape = entry.at("sample_shape").get<Shape>();
    one.rows.all_positions = entry.at("all_positions").get<std::int64_t>();
    one.rows.yardstick = yardstick_of(entry, units_file(file, outputs.size() - 1));
    if (one.rows.yardstick) keep_flips_of(*one.rows.yardstick, one.rows, first);
  }
  return outputs;
}

const ComparedRows* reference_of(const ComparedOutputs& reference, const ComparedOutputs& outputs,
                                 std::size_t index) {
  const bool by_name = std::all_of(reference.begin(), reference.end(),
                                   [&](const auto& one) { return has_namesake(one, outputs); });
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const bool same = by_name ? reference[i].rows.name == outputs[index].rows.name : i == index;
    if (same) return reference[i].left_out.empty() ? &reference[i].rows : nullptr;
  }
  return nullptr;
}

}  // namespace paceline::workload
