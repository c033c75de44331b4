// SPDX-License-Identifier: MIT
#include "run/ranks/rank_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/device.h"
#include "config/declared_options.h"
#include "run/case/short_hash.h"

namespace paceline::run {

using config::Case;
using config::Settings;

namespace {

// nccl connects CUDA devices; training on CPUs goes on with gloo, which its warning says.
std::string backend_on(const Case& c, const std::string& device) {
  const auto& asked = c.settings.text("backend");
  if (asked == "auto") return is_cpu(device) ? "gloo" : "nccl";
  const bool falls_back = asked == "nccl" && is_cpu(device) && config::traits_of(c.kind).other_backend;
  return falls_back ? "gloo" : asked;
}

}  // namespace

std::string rank_device(const Case& c, const std::string& automatic) {
  const auto& asked = c.settings.text("device");
  return asked == "auto" ? automatic : asked;
}

pass::RankSpec rank_spec(const Case& c, const std::string& device) {
  const Settings& s = c.settings;
  pass::RankSpec r;
  r.device = device;
  r.backend = backend_on(c, device);
  r.rendezvous.timeout_s = s.number("rdzv_timeout_s");
  r.group_timeout_s = s.number("group_timeout_s");
  r.plan_hash = plan_hash(c);
  return r;
}

std::string too_few_devices(const pass::PassSpec& pass, int devices) {
  const auto& ranks = pass.ranks;
  if (!is_cuda(ranks.device) || ranks.backend != "nccl" || devices == 0 || pass.world_size <= devices)
    return {};
  return fmt::format(
      "{} ranks over nccl need a device each, and {} {} visible here; start fewer ranks, or use backend: "
      "gloo, with which ranks may share a device",
      pass.world_size, devices, devices == 1 ? "is" : "are");
}

int threads_per_rank(const std::vector<Case>& cases, int cores, const RanksHere& ranks_here) {
  std::int64_t most = 1;
  for (const auto& c : cases)
    if (c.settings.has("ranks")) {
      const auto ranks = c.settings.integer("ranks");
      most = std::max(most, ranks_here ? ranks_here(ranks) : ranks);
    }
  return std::max(1, static_cast<int>(cores / most));
}

std::string plan_hash(const Case& c) {
  nlohmann::json all = c.env;
  for (const auto& [name, values] : c.settings.all())
    if (!config::is_of_samplers(name))  // hosts may have other ones
      for (const auto& value : values) all[name].push_back(config::value_text(value));
  return short_hash(all);
}

}  // namespace paceline::run
