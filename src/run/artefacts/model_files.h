// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <filesystem>
#include <string>

#include "process/worker.h"
#include "run/case/plugin_choice.h"

// Built-in models as files, for engines that read files.
namespace paceline::run {

// Writes a built-in model in a worker process. Throws Error naming the model and the reason; kInterrupted is
// the caller's to see from `interrupt`.
pass::PreparedFile export_model(const EngineDirectory& engines, const plugin::ModelSpec& model,
                                const pass::ExportTo& target, double timeout_s,
                                const std::atomic<bool>& interrupt);

// An export pass that makes `base`'s built-in model a file for an engine that reads `format`; its batch stays
// free.
pass::PassSpec export_pass(const pass::PassSpec& base, const std::string& format);
// Short name for everything that such a file depends on.
std::string model_file_key(const pass::PassSpec& export_pass);

}  // namespace paceline::run
