// SPDX-License-Identifier: MIT
#include "config/declared_options.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "config/idle_options.h"
#include "config/option_table.h"
#include "config/schema.h"
#include "plan_helpers.h"
#include "support/declared_options.h"

namespace paceline::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using ::paceline::test::use_options_of_this_build;
const auto* const kThisBuild = ::testing::AddGlobalTestEnvironment(new ::paceline::test::OptionsOfThisBuild);

DeclaredOption pace() {
  DeclaredOption option{.name = "spin.pace", .engine = "spin", .type = DeclaredType::kChoice};
  option.choices = {"uneven", "steady"};
  option.fallback = "uneven";
  option.help = "How it paces.";
  return option;
}
DeclaredOption laps() {
  DeclaredOption option{.name = "spin.laps", .engine = "spin", .type = DeclaredType::kInteger};
  option.min = 1;
  option.max = 9;
  option.help = "How many laps.";
  option.identity = false;
  return option;
}

DeclaredOption every() {
  DeclaredOption option{.name = "tick.every_ms", .sampler = "tick", .type = DeclaredType::kInteger};
  option.fallback = "5";
  option.help = "How often.";
  option.identity = false;
  return option;
}

class DeclaredOptions : public ::testing::Test {
 protected:
  DeclaredOptions() { use_declared_options({pace(), laps()}); }
  ~DeclaredOptions() override { use_options_of_this_build(); }

  [[nodiscard]] Plan plan(const std::string& lines, const FlagSet& flags = {}) const {
    return load_plan_text("kind: inference\nmodel: tiny_cnn\n" + lines, "p.yaml", flags, names_);
  }
  [[nodiscard]] std::string mistake(const std::string& lines, const FlagSet& flags = {}) const {
    try {
      static_cast<void>(plan(lines, flags));
    } catch (const ConfigErrors& errors) {
      EXPECT_EQ(errors.diagnostics().size(), 1U);
      return errors.diagnostics().front().text();
    }
    return "";
  }
  [[nodiscard]] std::vector<std::string> idle(const std::string& lines) const {
    const Plan made = plan(lines);
    return without_effect(made, expand(made), WorkloadKind::kInference, "cpu");
  }
  static std::string said_of_declaring(const DeclaredOption& option) {
    try {
      use_declared_options({option});
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }

  ExtraNames names_{{"spin"}, {}};
};

TEST_F(DeclaredOptions, AreKeysAndFlagsWithTypeRangeAndChoices) {
  EXPECT_EQ(plan("engine: spin\nspin: {laps: 3}\n").workloads.at(0).settings.integer("spin.laps"), 3);
  EXPECT_EQ(plan("engine: spin\n", infer_flags({"--spin.pace", "steady"}))
                .workloads.at(0)
                .settings.text("spin.pace"),
            "steady");
  EXPECT_THAT(mistake("engine: spin\nspin: {laps: 10}\n"), HasSubstr("'10' is out of range: from 1 to 9"));
  EXPECT_THAT(mistake("engine: spin\n", infer_flags({"--spin.pace", "fast"})),
              HasSubstr("--spin.pace fast: spin.pace 'fast' is none of uneven, steady"));
  EXPECT_THAT(mistake("engine: spin\nspin: {lap: 3}\n"), HasSubstr("did you mean 'spin.laps'?"));
}

TEST_F(DeclaredOptions, OnlyCasesOfTheEngineHaveTheDefault) {
  const auto cases = expand(plan("engines: [eager, spin]\n"));
  EXPECT_FALSE(cases.at(0).settings.has("spin.pace"));
  EXPECT_EQ(cases.at(1).settings.text("spin.pace"), "uneven");
  EXPECT_FALSE(cases.at(1).settings.has("spin.laps"));
}

TEST_F(DeclaredOptions, OptionsOfAnotherEngineHaveNoEffect) {
  EXPECT_THAT(idle("engine: eager\nspin: {pace: steady, laps: 2}\n"),
              ElementsAre("spin.pace, spin.laps (for engine spin)"));
  EXPECT_THAT(idle("engine: eager\nspin: {pace: uneven}\n"), ElementsAre());
  EXPECT_THAT(idle("engines: [eager, spin]\nspin: {pace: steady}\n"), ElementsAre());
}

TEST_F(DeclaredOptions, OfASamplerBelongToCasesOfAnyKindThatUseIt) {
  use_declared_options({every()}, {"tick", "tock"});
  for (const char* kind : {"kind: inference\nmodel: tiny_cnn\n",
                           "kind: training\nmodel: tiny_cnn\nranks: 1\n", "kind: collective\n"}) {
    const auto cases_of = [&](const std::string& lines) {
      return expand(load_plan_text(kind + lines, "p.yaml", {}, names_));
    };
    EXPECT_FALSE(cases_of("").at(0).settings.has("tick.every_ms")) << kind;
    EXPECT_FALSE(cases_of("sampler: [tock]\n").at(0).settings.has("tick.every_ms")) << kind;
    EXPECT_EQ(cases_of("sampler: [tock, tick]\n").at(0).settings.integer("tick.every_ms"), 5) << kind;
    EXPECT_EQ(cases_of("sampler: tick\ntick: {every_ms: 2}\n").at(0).settings.integer("tick.every_ms"), 2)
        << kind;
  }
  EXPECT_THAT(idle("tick: {every_ms: 2}\n"), ElementsAre("tick.every_ms (for sampler tick)"));
  EXPECT_THAT(idle("sampler: [tick]\ntick: {every_ms: 2}\n"), ElementsAre());
}

TEST_F(DeclaredOptions, ASamplerIsOneThatAPluginBrings) {
  use_declared_options({every()}, {"tick"});
  EXPECT_THAT(mistake("sampler: [none, tick]\n"), HasSubstr("'none' cannot be combined with other samplers"));
  EXPECT_THAT(mistake("sampler: [tock]\n"),
              HasSubstr("sampler 'tock' is none of tick, none; did you mean 'tick'?"));
  use_declared_options({}, {});
  EXPECT_EQ(plan("sampler: [tock]\n").workloads.at(0).settings.texts("sampler").at(0), "tock");
}

TEST_F(DeclaredOptions, StandInHelpSchemaReferenceAndStoredPlans) {
  EXPECT_THAT(render_help(kInfer), HasSubstr("How it paces. (uneven, steady) [uneven]"));
  EXPECT_THAT(options_markdown(), HasSubstr("| `spin.laps` |"));
  EXPECT_THAT(plan_json_schema().dump(), HasSubstr(R"("enum":["uneven","steady"])"));
  const Plan written = plan("engine: spin\nspin: {pace: steady, laps: 2}\n");
  EXPECT_TRUE(same_plan(load_plan_text(effective_yaml(written), "p.yaml", {}, names_), written));
  EXPECT_THAT(effective_yaml(written), HasSubstr("    spin:\n      pace: steady\n      laps: 2\n"));
}

TEST_F(DeclaredOptions, ReplaceThoseBefore) {
  use_declared_options({laps()});
  EXPECT_EQ(find_option("spin.pace", kInference), nullptr);
  EXPECT_FALSE(find_option("spin.laps", kInference)->identity);
}

TEST_F(DeclaredOptions, DoNotShadowTheToolsOwnAndHaveADefaultOfTheirType) {
  auto shadow = pace();
  shadow.name = "server.load", shadow.engine = "server";
  EXPECT_THAT(said_of_declaring(shadow), HasSubstr("'server', which are paceline's own"));
  auto wrong = laps();
  wrong.fallback = "12";
  EXPECT_THAT(said_of_declaring(wrong),
              HasSubstr("'spin.laps' wrongly: its default: spin.laps '12' is out of"));
}

}  // namespace
}  // namespace paceline::config
