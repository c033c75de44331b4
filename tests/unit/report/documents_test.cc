// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "base/text.h"
#include "report/answer_parts.h"
#include "report/collectives.h"
#include "report/environment_rows.h"
#include "report/format_table.h"
#include "report/nccl_tests.h"
#include "result/metric_table.h"
#include "support/sample_runs.h"

namespace paceline::report {
namespace {

using ::paceline::testing::sample_run;

std::string render(const char* format, std::size_t runs = 1) {
  std::vector<ReportRun> list(runs, ReportRun{sample_run(), {}});
  for (std::size_t at = 1; at < runs; ++at) list[at].result.run_id = "second";
  return find_format(format).render(list, {});
}

std::string line_with(const std::string& text, const std::string& part) {
  for (const std::string& line : split(text, '\n'))
    if (line.find(part) != std::string::npos) return line;
  return {};
}

// Cells of a CSV line without quoted commas.
std::string cell(const std::string& csv, const std::string& row, const std::string& column) {
  const auto heads = split(split(csv, '\n').front(), ',');
  const auto cells = split(line_with(csv, row), ',');
  for (std::size_t at = 0; at < heads.size(); ++at)
    if (heads[at] == column) return at < cells.size() ? cells[at] : "no cell";
  return "no column";
}

TEST(Formats, EveryFormatRendersOneRunSeveralAndAnEmptyOne) {
  for (const Format& format : formats()) {
    if (!format.render) continue;  // charts, a file each
    EXPECT_FALSE(render(format.name.data()).empty()) << format.name;
    // The sample has no collectives, and their table has no other rows.
    const bool has_rows = format.name != "collectives";
    EXPECT_EQ(render(format.name.data(), 2).find("second") != std::string::npos, has_rows) << format.name;
    const ReportRun empty;
    EXPECT_FALSE(format.render(std::span(&empty, 1), {}).empty()) << format.name;
  }
}

TEST(Formats, NoneClaimsWhichOfTwoRunsIsFaster) {
  for (const char* format : {"text", "markdown", "html"})
    for (const std::size_t runs : {1U, 2U}) {
      const std::string words = join(split(render(format, runs), '\n'), " ");
      EXPECT_EQ(words.find("Which run is faster is not claimed") != std::string::npos, runs == 2) << format;
    }
}

TEST(Formats, EachNameHasItsOwnMaker) {
  EXPECT_EQ(find_format("html").kind, FormatKind::kPage);
  EXPECT_EQ(find_format("pdf").kind, FormatKind::kPaper);
  EXPECT_EQ(find_format("svg").kind, FormatKind::kDrawings);
  EXPECT_EQ(find_format("png").kind, FormatKind::kImages);
  const std::map<std::string, Format::Render*> makers{{"html", render_html},
                                                      {"markdown", render_markdown},
                                                      {"csv", render_csv},
                                                      {"study", render_study},
                                                      {"json", render_json},
                                                      {"text", render_text},
                                                      {"nccl", render_nccl},
                                                      {"pdf", render_html},
                                                      {"svg", nullptr},
                                                      {"nccl-json", render_nccl_json},
                                                      {"collectives", render_collectives}};
  for (const auto& [name, maker] : makers) EXPECT_EQ(find_format(name).render, maker) << name;
}

TEST(Formats, UnknownNameIsAUsageErrorWithTheNearest) {
  try {
    find_format("htlm");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_NE(std::string(error.what()).find("did you mean 'html'"), std::string::npos);
  }
}

TEST(Csv, OneRowACaseWithIntervals) {
  const std::string csv = render("csv");
  EXPECT_EQ(split(std::string(trim(csv)), '\n').size(), 11U);
  const char* row = "resnet50-eager-fp32-b1";
  EXPECT_DOUBLE_EQ(parse_double(cell(csv, row, "p50_ms")).value(), 54.1);
  EXPECT_DOUBLE_EQ(parse_double(cell(csv, row, "p50_ms_ci_low")).value(), 53.018);
  EXPECT_DOUBLE_EQ(parse_double(cell(csv, row, "memory_mb")).value(), 312);
  EXPECT_EQ(cell(csv, row, "run_id"), "20261121T014500Z-7f3a");
}

TEST(Csv, MissingIsEmptyAndNeverZero) {
  const std::string csv = render("csv");
  EXPECT_EQ(cell(csv, "resnet50-eager-fp32-b1", "p99_ms"), "");
  for (const auto& metric : result::metrics())
    EXPECT_EQ(cell(csv, "vit_b_16-eager-bf16-b1", std::string(metric.name)), "") << metric.name;
}

TEST(Csv, SeveralRunsShareOneHead) {
  const std::string csv = render("csv", 2);
  EXPECT_EQ(split(std::string(trim(csv)), '\n').size(), 21U);
  EXPECT_NE(csv.find("\nsecond,"), std::string::npos);
}

TEST(Json, OneRunAsStoredAndSeveralInAList) {
  const auto one = nlohmann::json::parse(render("json"));
  EXPECT_EQ(one["run_id"], "20261121T014500Z-7f3a");
  EXPECT_EQ(one["cases"].size(), 10U);
  const auto two = nlohmann::json::parse(render("json", 2));
  EXPECT_EQ(two["runs"].size(), 2U);
  EXPECT_EQ(two["runs"][1]["run_id"], "second");
  EXPECT_TRUE(two.contains("schema_version"));
}

TEST(Markdown, ATicketHasSentenceTableAndWarnings) {
  const std::string text = render("markdown");
  EXPECT_EQ(line_with(text, "| resnet50 torchscript fp32 b1 |"),
            "| resnet50 torchscript fp32 b1 | 47.9 ±1.0 | – | 20.9 | 1.13 ±0.03 | 301 MB | 1.0 % | A |");
  EXPECT_NE(line_with(text, "| resnet50 eager fp16 b1 |").find("skipped (unsupported)"), std::string::npos);
  EXPECT_NE(text.find("- **problem**: vit\\_b\\_16 eager bf16 b1 fails its accuracy check"),
            std::string::npos);
  EXPECT_NE(text.find("- Warning: neighbours used 0.3 cores before the run"), std::string::npos);
  EXPECT_NE(text.find("on EPYC (test) · 2 cores"), std::string::npos);
  EXPECT_NE(text.find("Reproduce: `paceline run examples/plans/quickstart.yaml`"), std::string::npos);
  EXPECT_EQ(text.find("cpu.model"), std::string::npos);  // the page has the whole environment
  EXPECT_NE(text.find("No p99: needs 368 independent samples, had 216."), std::string::npos);
}

TEST(Markdown, BackticksOfTheCommandLineEndNoSpan) {
  ReportRun run{sample_run(), {}};
  run.result.command_line = "paceline infer --model '``<img src=x>`'";
  const auto text = render_markdown(std::span(&run, 1), {});
  EXPECT_EQ(line_with(text, "Reproduce"), "Reproduce: ``` paceline infer --model '``<img src=x>`' ```");
}

TEST(Markdown, OfFourCasesFitsAScreen) {
  auto run = testing::sample_run();
  run.cases.resize(4);
  run.gates = {{"p50_ms < 100", run.cases[0].case_id, "p50_ms", answer::Verdict::kYes, "54.1 ms"},
               {"p50_ms < 100", run.cases[3].case_id, "p50_ms", answer::Verdict::kNo, "512 ms"}};
  const ReportRun only{run, {}};
  const std::string text = find_format("markdown").render(std::span(&only, 1), {});
  EXPECT_LE(split(text, '\n').size(), 40U) << text;
  EXPECT_NE(text.find("- 1 of 2 gates met\n- missed: p50\\_ms &lt; 100 (512 ms)"), std::string::npos) << text;
  run.cases.resize(2);
  const ReportRun pair{run, {}};
  EXPECT_NE(find_format("markdown").render(std::span(&pair, 1), {}).find("times as fast as"),
            std::string::npos);
}

TEST(Markdown, SeveralRunsHaveARunColumn) {
  const std::string text = render("markdown", 2);
  EXPECT_NE(text.find("| case | run | p50 ms |"), std::string::npos);
  EXPECT_NE(text.find("| resnet50 eager fp32 b1 | B | 54.1 ±1.1 |"), std::string::npos);
}

TEST(Documents, TheCommitAndTheNotesOfTheUserAreMarkedOff) {
  ReportRun run{sample_run(), {}};
  const std::string note = "<b>*warm*</b> | `x`";
  run.result.environment["sources"] = {{"commit", std::string(40, 'a')}, {"modified", true}};
  run.result.environment["notes"] = {note};
  const auto in = [&](const char* form) { return find_format(form).render(std::span(&run, 1), {}); };
  EXPECT_NE(in("markdown").find("Commit aaaaaaaaaaaa, modified."), std::string::npos);
  EXPECT_NE(in("markdown").find("Note: " + escape_markdown(note)), std::string::npos);
  EXPECT_EQ(in("markdown").find("<b>"), std::string::npos);
  EXPECT_NE(in("html").find("note: &lt;b&gt;*warm*&lt;/b&gt;"), std::string::npos);
  EXPECT_NE(in("html").find("commit aaaaaaaaaaaa, modified"), std::string::npos);
  const auto words = [](const char* json) { return commit_words(nlohmann::json::parse(json)); };
  EXPECT_EQ(words(R"({"sources": {"commit": "0123456789abcdef", "modified": false}})"), "0123456789ab");
  EXPECT_EQ(words(R"({"sources": {"commit": "01", "modified": null}})"), "01, changes not known");
  EXPECT_EQ(words(R"({"sources": {"commit": 7}})"), "") << "written by others";
  EXPECT_EQ(words(R"({"sources": 7})"), "");
  EXPECT_THAT(notes_of({{"notes", {1, "a"}}}), ::testing::ElementsAre("a"));
}

TEST(EnvironmentRows, FlattensAndNamesTheUnknown) {
  const auto rows = flat_rows({{"a", {{"b", nullptr}, {"c", {1, 2}}}}, {"d", {{{"e", true}}}}});
  const std::vector<std::pair<std::string, std::string>> expected{
      {"a.b", "not known"}, {"a.c", "1 2"}, {"d.0.e", "true"}};
  EXPECT_EQ(rows, expected);
  EXPECT_EQ(machine_line(nlohmann::json::object()), "machine not recorded");
}

TEST(EnvironmentRows, TheMachinesLineHasItsGpusAndTheirDriver) {
  const auto line = [](const char* nvidia) {
    return machine_line({{"cpu", {{"model", "EPYC"}}}, {"nvidia", nlohmann::json::parse(nvidia)}});
  };
  EXPECT_EQ(
      line(
          R"({"driver_version": "580.65.06", "gpus": [{"name": "H200"}, {"name": "H200"}, {"name": "T4"}]})"),
      "EPYC · 2 x H200, T4 · NVIDIA driver 580.65.06");
  EXPECT_EQ(line(R"({"driver_version": null, "driver_version_reason": "no GPU", "gpus": []})"), "EPYC");
  EXPECT_EQ(line(R"({"driver_version": null, "gpus": [1, {"name": 2}]})"), "EPYC") << "written by others";
}

}  // namespace
}  // namespace paceline::report
