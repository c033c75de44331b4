// SPDX-License-Identifier: MIT
#include "run/case/content_digest.h"

#include <map>
#include <utility>

#include "base/json.h"
#include "base/sha256.h"
#include "host/machine/loaded_objects.h"

namespace paceline::run {

std::string content_digest(const std::string& file) {
  static std::map<std::string, std::pair<nlohmann::json, std::string>> known;
  auto state = host::states_of({file});
  const auto it = known.find(file);
  if (it != known.end() && it->second.first == state) return it->second.second;
  auto digest = sha256_file(file);
  return known.insert_or_assign(file, std::pair{std::move(state), std::move(digest)}).first->second.second;
}

}  // namespace paceline::run
