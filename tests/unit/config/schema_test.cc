// SPDX-License-Identifier: MIT
#include "config/schema.h"

#include <gtest/gtest.h>

#include "config/option_table.h"

namespace paceline::config {
namespace {

TEST(OptionsMarkdown, HasARowForEveryOption) {
  const std::string text = options_markdown();
  for (const auto& group : option_groups())
    for (const auto& option : group.options)
      EXPECT_TRUE(!option.available ||
                  text.find("\n| `" + std::string(option.name) + "` |") != std::string::npos)
          << option.name;
  EXPECT_NE(text.find("4089184256"), std::string::npos);
  for (const char* word : {"rotating", "powersgd", "batched", "manual"})
    EXPECT_EQ(text.find(word), std::string::npos) << word;
  EXPECT_EQ(text.find("peak_gemm"), std::string::npos);
}

// Unwraps a schema that also allows null.
const nlohmann::json& without_null(const nlohmann::json& schema) {
  EXPECT_EQ(schema.at("anyOf").at(1), (nlohmann::json{{"type", "null"}})) << schema;
  return schema.at("anyOf").at(0);
}

// Walks "stop.t_max_s" through the properties of one alternative.
const nlohmann::json* property(const nlohmann::json& schema, const std::string& name) {
  const std::size_t dot = name.find('.');
  const auto& properties = schema.at("properties");
  const std::string first = name.substr(0, dot);
  if (!properties.contains(first)) return nullptr;
  if (first == "workloads" || first == "kind") return &properties.at(first);
  const auto& found = without_null(properties.at(first));
  if (dot == std::string::npos) return &found;
  return property(found.contains("anyOf") ? found.at("anyOf").back() : found, name.substr(dot + 1));
}

TEST(PlanSchema, HoldsEveryPlanKey) {
  const auto schema = plan_json_schema();
  ASSERT_EQ(schema.at("anyOf").size(), kWorkloadKinds.size() + 1);
  for (std::size_t kind = 0; kind < kWorkloadKinds.size(); ++kind)
    for (const auto& group : option_groups())
      for (const auto& option : group.options)
        if (option.available && (option.kinds & (1U << kind))) {
          EXPECT_NE(property(schema["anyOf"][kind], std::string(option.name)), nullptr) << option.name;
        }
  EXPECT_NE(property(schema["anyOf"].back(), "workloads"), nullptr);
  EXPECT_NE(property(schema["anyOf"].back(), "expect"), nullptr);
}

TEST(PlanSchema, CarriesTypesRangesAndChoices) {
  const auto schema = plan_json_schema();
  const auto& inference = schema.at("anyOf").at(0);
  const auto& training = schema.at("anyOf").at(1);
  const auto* timeout = property(inference, "timeout_s");
  ASSERT_NE(timeout, nullptr);
  EXPECT_EQ(timeout->at("type"), "number");
  EXPECT_DOUBLE_EQ(timeout->at("minimum"), 0.1);
  const auto* batch = property(inference, "batch");
  EXPECT_EQ(batch->at("anyOf")[0].at("minimum"), 1);
  EXPECT_EQ(batch->at("anyOf")[1].at("items").at("type"), "integer");
  EXPECT_EQ(property(inference, "scenario")->at("enum").size(), 4U);
  EXPECT_EQ(property(training, "training.epochs")->at("type"), "integer");
  EXPECT_EQ(property(training, "model.name")->at("anyOf").size(), 2U);
  EXPECT_EQ(property(training, "model")->at("anyOf").size(), 2U);  // a name, or a section
  EXPECT_NE(property(training, "model.channels_last"), nullptr);
}

}  // namespace
}  // namespace paceline::config
