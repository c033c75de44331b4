// SPDX-License-Identifier: MIT
#include "pass/pass.h"

#include <gtest/gtest.h>

namespace paceline::pass {
namespace {

// Lists the tasks' names that are in the JSON.
std::vector<std::string> task_fields(const nlohmann::json& json) {
  std::vector<std::string> found;
  for (const char* name : {"export_to", "quantise_to", "build_to", "inputs_to", "expected_to",
                           "profile_layers", "collective", "train"})
    if (json.contains(name)) found.emplace_back(name);
  return found;
}

template <typename T>
void expect_alone(const std::string& name) {
  PassSpec spec;
  spec.task.emplace<T>();
  const auto json = to_json(spec);
  EXPECT_EQ(task_fields(json), std::vector<std::string>{name});
  const auto back = pass_from_json(json);
  EXPECT_EQ(back.task.index(), spec.task.index()) << name;
  EXPECT_EQ(to_json(back), json);
}

TEST(Task, TravelsAlone) {
  expect_alone<ExportTo>("export_to");
  expect_alone<QuantiseTo>("quantise_to");
  expect_alone<BuildTo>("build_to");
  expect_alone<InputsTo>("inputs_to");
  expect_alone<ExpectedTo>("expected_to");
  expect_alone<ProfileLayers>("profile_layers");
  expect_alone<CollectiveSpec>("collective");
  expect_alone<TrainSpec>("train");
}

TEST(Task, IsEmptyIfTheCommonPartSuffices) {
  EXPECT_TRUE(task_fields(to_json(PassSpec{})).empty());
  EXPECT_EQ(pass_from_json(to_json(PassSpec{})).task.index(), 0U);
}

TEST(Task, KeepsWhatItSays) {
  PassSpec spec;
  auto& to = spec.task.emplace<QuantiseTo>();
  to.file = "m.onnx";
  to.exclude = {"fc"};
  const auto back = std::get<QuantiseTo>(pass_from_json(to_json(spec)).task);
  EXPECT_EQ(back.file, "m.onnx");
  EXPECT_EQ(back.exclude, std::vector<std::string>{"fc"});
}

}  // namespace
}  // namespace paceline::pass
