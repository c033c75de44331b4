// SPDX-License-Identifier: MIT
// Shows how long pictures took to become inputs: decoding, resizing, normalising.
#include "result/figures/picture_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/units.h"
#include "report/case_cells.h"
#include "report/subjects.h"

namespace paceline::report {
namespace {

using result::PicturePart;

constexpr std::string_view kPicturesCaveat =
    "Times per picture of image_dir on one thread, each picture once before the model runs. They are not "
    "part "
    "of the latency.";

constexpr std::array kPictureNames{result::kDecode, result::kResize, result::kNormalise};

Table pictures_table(const std::vector<ReportCase>& cases) {
  Table table{.heads = {"median per picture, ms"}};
  for (const auto& part : kPictureNames) table.heads.emplace_back(part);
  table.heads.emplace_back("pictures");
  for (const auto& entry : cases) {
    const auto& parts = entry.one->picture_parts;
    std::vector<Cell> cells{name_of(entry)};
    for (const auto& name : kPictureNames) {
      const auto found = std::ranges::find(parts, name, &PicturePart::name);
      cells.emplace_back(found == parts.end() ? std::string(kNone) : with_interval(found->p50_ns, 1e-6));
    }
    cells.emplace_back(fmt::format("{}", parts.front().n));
    table.add(std::move(cells));
  }
  return table;
}

// The page has them with each case.
Sections pictures_of_runs(std::span<const ReportRun> runs, Form form) {
  const auto cases = cases_with(runs, [](const CaseResult& one) { return !one.picture_parts.empty(); });
  if (cases.empty() || form == Form::kPage) return {};
  auto table = pictures_table(cases);
  share_labels(table);
  return {{.table = std::move(table), .notes = {std::string(kPicturesCaveat)}}};
}

Sections pictures_of_case(const ReportCase& entry) {
  if (entry.one->picture_parts.empty()) return {};
  Table table{.heads = {"part", "mean ms", "median ms", "pictures"}};
  for (const auto& part : entry.one->picture_parts)
    table.add(part.name, part.mean_ns ? format_significant(*part.mean_ns * 1e-6) : std::string(kNone),
              with_interval(part.p50_ns, 1e-6), fmt::format("{}", part.n));
  return {
      {.title = "Preparing a picture", .table = std::move(table), .notes = {std::string(kPicturesCaveat)}}};
}

}  // namespace

constexpr Subject kPictureParts{.id = "picture-parts",
                                .heading = "Preparing pictures",
                                .of_runs = pictures_of_runs,
                                .of_case = pictures_of_case};

}  // namespace paceline::report
