// SPDX-License-Identifier: MIT
#include "history/marks.h"

#include <fmt/format.h>

#include <array>

#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"

namespace paceline::history {
namespace fs = std::filesystem;
namespace {

using Texts = std::map<std::string, std::string>;

struct MarkedField {
  const char* name;
  Texts Marks::*texts;
};
constexpr std::array<MarkedField, 3> kMarked{
    {{"tags", &Marks::tags}, {"pins", &Marks::pins}, {"notes", &Marks::notes}}};
constexpr const char* kImported = "imported";

Marks marks_of(const nlohmann::json& json) {
  Marks marks;
  for (const auto& [name, texts] : kMarked)
    if (json.contains(name)) marks.*texts = json.at(name).get<Texts>();
  if (json.contains(kImported)) marks.imported = json.at(kImported).get<std::set<std::string>>();
  return marks;
}

}  // namespace

Marks read_marks(const fs::path& results) {
  const auto file = results / kMarksFile;
  std::error_code error;
  if (!fs::exists(file, error)) return {};
  const auto json = json_or_discarded(read_file(file));
  try {
    if (json.is_object()) return marks_of(json);
  } catch (const nlohmann::json::exception&) {  // a field of another type
  }
  throw Error(ErrorCode::kData,
              fmt::format("{}: not a list of tags, pins and notes; move it away to go on without them",
                          shown_path(file.string())));
}

void write_marks(const fs::path& results, const Marks& marks) {
  auto json = nlohmann::json::object();
  for (const auto& [name, texts] : kMarked) json[name] = marks.*texts;
  json[kImported] = marks.imported;
  replace_file(results / kMarksFile,
               json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace paceline::history
