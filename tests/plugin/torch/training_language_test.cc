// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "training_driver.h"

namespace paceline::torch_test {
namespace {

TEST(LanguageModels, BertLearnsMaskedTokens) {
  const auto trainer = make_trainer({.model = "bert-large", .batch = 1, .length = 16});  // SGD: 2.7 GB less
  EXPECT_EQ(trainer->batch_specs().size(), 2u);
  EXPECT_EQ(trainer->info().parameters, 335'174'458);  // Hugging Face's BertForMaskedLM
  const auto before = evaluate(*trainer, samples(*trainer, 0));
  EXPECT_GE(before.judged, 1);
  EXPECT_LE(before.judged, 16);
  EXPECT_GT(before.loss, 5);
  EXPECT_EQ(evaluate(*trainer, samples(*trainer, 0)).loss, before.loss);  // the same masks, no dropout
  for (int step = 0; step < 3; ++step) EXPECT_GT(train(*trainer, samples(*trainer, 0), 1e-3).loss, 1);
  EXPECT_LT(evaluate(*trainer, samples(*trainer, 0)).loss, before.loss);
}

}  // namespace
}  // namespace paceline::torch_test
