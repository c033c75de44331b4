// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "run/case/case_run.h"

// Which files the model of a case was when its first pass began, kept beside the records of its passes, so
// that --resume mixes no repetitions of two models.
namespace paceline::run {

// In words, which file of the model is another one than when the records of the case were made; empty: none,
// or nothing is known of them. A file of the same size and time is taken for the same, and so is one with the
// same digest; a file that is gone has not changed.
std::string changed_model_file(const CaseRun& c);

// Keeps what the files are now, unless that was kept before.
void keep_model_identity(const CaseRun& c);

}  // namespace paceline::run
