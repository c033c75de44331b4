// SPDX-License-Identifier: MIT
#include "report/format_table.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/text.h"
namespace paceline::report {
namespace {

struct Maker {
  Format::Render* render;
  FormatKind kind = FormatKind::kText;
  bool answers = false;
};
// In the order of kReportFormats.
constexpr std::array<Maker, kReportFormats.size()> kMakers{{
    {render_html, FormatKind::kPage, true},
    {render_markdown, FormatKind::kText, true},
    {render_csv},
    {render_study},
    {render_collectives},
    {render_json},
    {render_text, FormatKind::kText, true},
    {render_nccl},
    {render_nccl_json},
    {render_html, FormatKind::kPaper, true},
    {nullptr, FormatKind::kDrawings},
    {nullptr, FormatKind::kImages},
}};

constexpr auto kFormats = [] {
  std::array<Format, kMakers.size()> formats{};
  for (std::size_t i = 0; i < formats.size(); ++i)
    formats[i] = {kReportFormats[i], kMakers[i].render, kMakers[i].kind, kMakers[i].answers};
  return formats;
}();

}  // namespace

std::span<const Format> formats() {
  return kFormats;
}

const Format& find_format(std::string_view name) {
  std::vector<std::string> names;
  for (const Format& format : kFormats) {
    if (format.name == name) return format;
    names.emplace_back(format.name);
  }
  const auto close = nearest_name(name, names);
  throw Error(ErrorCode::kUsage,
              fmt::format("report format '{}' is not available; {}", name,
                          close ? "did you mean '" + *close + "'?" : "formats: " + join(names, ", ")));
}

}  // namespace paceline::report
