// SPDX-License-Identifier: MIT
#include "run/case_opening.h"

#include "config/case_rules.h"
#include "run/case/case_identity.h"
#include "run/case/sampler_choice.h"

namespace paceline::run {

CaseRun open_case(const RunSetup& setup, const Kinds& kinds, std::size_t index, const std::string& run_id,
                  const result::RunDirectory& directory) {
  CaseRun c;
  c.index = index;
  c.definition = setup.cases.at(index);
  c.dir = directory.case_dir(c.definition.id);
  c.result = new_case_result(c.definition, run_id);
  c.selected = setup.only.empty() || setup.only.contains(c.definition.id);
  if (!c.definition.not_available.empty()) {
    end_case(c, config::waits_for_a_version(c.definition) ? "not_available_yet" : "unsupported",
             c.definition.not_available);
    return c;
  }
  kinds.of(c.definition).open(c);
  const auto no_sampler = c.ended ? std::string() : use_samplers(c.definition, setup.engines, c.base);
  if (!no_sampler.empty()) end_case(c, "unavailable", no_sampler);
  c.result.benchmark.threads = c.base.settings.threads;
  return c;
}

}  // namespace paceline::run
