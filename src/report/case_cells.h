// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>

#include "report/answer_parts.h"
#include "report/report_run.h"

// Words what a report says about a case, in tables and in sentences.
namespace paceline::report {

// The table of cases, with the columns that a form has room for.
Table case_table(std::span<const ReportRun> runs, Form form);

// "images/s" when all cases count the same item, else "items/s".
std::string throughput_head(const std::vector<ReportCase>& cases);

std::string or_none(const Number& number, std::string (*format)(double));  // kNone without a number
std::string percent_or_none(const Number& number);
std::string significant_or_none(const Number& number);
std::string spaced(std::string name);  // of a file: fixed iterations

bool is_offline(const result::CaseResult& one);   // one submission as a whole
bool is_training(const result::CaseResult& one);  // measured, with figures of its ranks

// The accuracy check in a sentence; empty where nothing was compared.
std::string accuracy_text(const result::CaseResult& one);
// How requests were batched, in a sentence; empty where they were not.
std::string batching_text(const result::CaseResult& one);

std::string energy_text(const CaseResult& one, const Number& each, const Number& above_idle,
                        const Number& idle_w, const Number& window_s);
std::string energy_cell(const Number& each, const Number& window_s);

// "the device decides: 99.7 % of the wall time"; empty where device time is not known.
std::string decides_text(const CaseResult& one);

// "0.21 J per image, 0.15 above 75 W of idle"; of short windows with how long they were. Empty without
// energy. `of`: what has the figures of energy, a device or the CPUs of a host.
template <class Meter>
std::string energy_text(const CaseResult& one, const Meter& of) {
  return energy_text(one, of.energy_per_item_j, of.energy_above_idle_per_item_j, of.idle_power_w,
                     of.energy_window_s);
}
// Fits it into a cell of a table.
template <class Meter>
std::string energy_cell(const Meter& of) {
  return energy_cell(of.energy_per_item_j, of.energy_window_s);
}

// Why a measured case has no p50, in words; empty where it has one.
std::string p50_reason(const result::CaseResult& one);
// Why there is no p99, in words; empty where there is one, and where p50_reason says why.
std::string p99_reason(const result::CaseResult& one);

// "p98 is the highest quantile its samples can carry"; empty where that is not known.
std::string highest_quantile_text(const result::CaseResult& one);

// Names what started ranks, after "started": "by mpirun", "by hand, one command per host".
std::string launcher_words(const std::string& launcher);

// "skipped: reason", "failed (accuracy): reason"; empty for a measured case.
std::string outcome_text(const result::CaseResult& one);

// "54.1 ±0.9" where the interval is about symmetric: its wider half, with the decimals of the value; else
// "54.1 (53.0–58.9)".
std::string with_interval(const result::Estimate& estimate, double scale = 1);
// Takes the number as it is written; the interval gets its decimals.
std::string around(const std::string& text, double value, double low, double high);

}  // namespace paceline::report
