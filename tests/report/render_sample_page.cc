// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "report/format_table.h"
#include "support/sample_runs.h"
#include "support/training_run.h"

// render_sample_page FORMAT FILE [one|two|many|hostile|training]: writes a report of invented runs.
namespace {

using namespace paceline;

// Each rank more costs a little; the last of eight ranks is always late.
const std::vector<paceline::testing::WorldSpec> kScaling{
    {.ranks = 1},
    {.ranks = 2, .ddp = true, .exposed_ms = 3},
    {.ranks = 4, .ddp = true, .exposed_ms = 5, .data_wait_ms = 2},
    {.ranks = 8, .ddp = true, .exposed_ms = 6, .data_wait_ms = 2, .late = 1.04}};

std::vector<report::ReportRun> training_runs() {
  report::ReportRun run{paceline::testing::training_run(kScaling)};
  for (std::size_t at = 0; at < run.result.cases.size(); ++at)
    run.steps[run.result.cases[at].case_id] =
        report::step_view(paceline::testing::training_tables(kScaling[at]));
  return {run};
}

std::vector<report::ReportRun> runs_of(const std::string& kind) {
  if (kind == "training") return training_runs();
  report::ReportRun first{paceline::testing::sample_run(), {}};
  if (kind == "hostile")
    for (auto& one : first.result.cases) {
      one.benchmark.model = "</script><script>document.title='owned'</script><a href='https://a.b'>model</a>";
      one.label = "<img src=x onerror=\"document.title='owned'\"> <a href='https://a.b'>" +
                  one.benchmark.engine + "</a>";
    }
  first.samples = paceline::testing::sample_times(first.result, 500);
  const auto& cases = first.result.cases;
  for (std::size_t i = 0; kind == "many" && cases.size() <= 200; ++i) {
    auto copy = cases[i];
    copy.case_id += fmt::format("-{}", cases.size());
    first.result.cases.push_back(std::move(copy));
  }
  std::vector<report::ReportRun> runs{first};
  if (kind == "two") {
    runs.push_back(first);
    runs.back().result.run_id = "20261122T091200Z-11aa";
  }
  return runs;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  try {
    const auto& format = report::find_format(argv[1]);
    const auto runs = runs_of(argc > 3 ? argv[3] : "one");
    write_file_atomic(argv[2], format.render(runs, {}));
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
