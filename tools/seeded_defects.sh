#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Plants one defect at a time into a copy of HEAD and expects the tests that watch it to fail: does the suite see what it is for?
# usage: seeded_defects.sh [NAME…]     exit 0 when every defect was seen. Copy and build stay in build/seeded/.
set -euo pipefail
cd "$(dirname "$0")/.."
tree=$PWD/build/seeded/tree build=$PWD/build/seeded/build log=$PWD/build/seeded/log
export CCACHE_BASEDIR=$PWD
wanted=" $* " unseen=0

quietly() { "$@" > "$log" 2>&1; }

copy_of_head() {
  mkdir -p build/seeded
  [ -d "$tree" ] || quietly git clone --no-checkout . "$tree"
  quietly git -C "$tree" fetch origin HEAD
  quietly git -C "$tree" checkout --force --detach FETCH_HEAD
  quietly cmake -S "$tree" -B "$build" -G Ninja -DPACELINE_PLUGIN_TORCH=OFF || { tail -n 20 "$log"; exit 1; }
}

# Without targets nothing is built.
build_targets() {
  local names
  read -r -a names <<< "$1"
  [ ${#names[@]} = 0 ] || quietly cmake --build "$build" -j "$(scripts/jobs.sh)" --target "${names[@]}"
}

# "SUITE [FILTER]": cases of a GoogleTest executable, or an entry of ctest.
run_tests() {
  local suite filter
  read -r suite filter <<< "$1"
  if [ -x "$build/tests/$suite" ]; then
    quietly timeout 120 "$build/tests/$suite" --gtest_brief=1 --gtest_fail_fast --gtest_filter="${filter:-*}"
  else
    quietly ctest --test-dir "$build" --no-tests=error --output-on-failure --timeout 120 -R "^$suite\$"
  fi
}

who_failed() { grep -oE -m 1 '\[  FAILED  \] [A-Za-z]+\.[A-Za-z0-9]+|[0-9]+ - .* \(Failed\)' "$log" || echo "a test that did not end well"; }

fail() {
  echo "$1: $2; end of $log:"
  tail -n 15 "$log"
  unseen=1
}

# defect NAME FILE SED_SCRIPT TARGETS TESTS: green without the defect, red with it.
defect() {
  local name=$1 file=$tree/$2 script=$3 targets=$4 tests=$5
  [ "$wanted" = "  " ] || [[ $wanted == *" $name "* ]] || return 0
  if ! build_targets "$targets" || ! run_tests "$tests"; then fail "$name" "fails without the defect"; return 0; fi
  sed -E -i "$script" "$file"
  if git -C "$tree" diff --quiet; then
    fail "$name" "the sed script changes nothing in $2"
  elif ! build_targets "$targets"; then
    fail "$name" "does not compile, which proves nothing"
  elif run_tests "$tests"; then
    fail "$name" "NOT SEEN: the tests stay green"
  else
    echo "$name: seen by $(who_failed | sed -E 's/^(\[  FAILED  \]|[0-9]+ -) | \(Failed\)$//g')"
  fi
  git -C "$tree" checkout --quiet -- .
}

copy_of_head
defect wrong_quantile_rank src/stats/quantile.cc \
  's/ \* ppm \+ kPpmOne - 1\) \/ kPpmOne/ * ppm) \/ kPpmOne/' unit_stats unit_stats
defect wrong_interval_rank src/stats/order_statistics.cc \
  's/below_u \+ 1 : 0/below_u : 0/' unit_stats unit_stats
defect bus_of_every_rank src/base/collective.h \
  's/static_cast<double>\(ranks - 1\)/static_cast<double>(ranks)/' unit_result 'unit_result Collectives.*'
defect fastest_rank_counts src/result/figures/summarize_collective.cc \
  's/longest = std::max\(longest/longest = std::min(longest/' unit_result 'unit_result Collectives.*'
defect unweighted_fit src/stats/link_fit.cc \
  's/= 1 \/ \(p\.seconds \* p\.seconds\)/= 1/' unit_stats 'unit_stats LinkFit.*'
defect dropped_sample src/measure/timed_loop.h \
  's/^    finish\(result_, /    if (!result_.samples.empty()) result_.samples.pop_back();\n&/' unit_measure unit_measure
defect missing_interval_is_zero src/report/case_cells.cc \
  '/if \(!estimate\.ci_low/d; s/\*estimate\.(ci_low|ci_high)/(estimate.\1 ? *estimate.\1 : 0)/g' unit_report unit_report
defect missing_number_is_zero src/result/run_directory.cc \
  '/\{:\.9g\}/s/: std::string\(\)/: std::string("0")/' unit_result unit_result
defect host_counts_on_a_device src/result/judged/noise_rules.cc \
  's/\|\| !facts\.device_decides;/|| true;/' unit_result 'unit_result DeviceDecides.*'
defect energy_of_half_a_window src/result/stored/sampled_energy.cc \
  's/kWholeWindow = 0\.95/kWholeWindow = 0/' unit_result 'unit_result DeviceState.*'
defect slower_size_counts src/result/stored/device_peaks.cc \
  's/\*found->per_s >= \*peak\.per_s/*found->per_s < *peak.per_s/' unit_result 'unit_result DevicePeaks.*'
defect roof_of_the_other_side src/report/roofline.cc \
  's/\*best->per_s <= by_memory/*best->per_s > by_memory/' unit_report 'unit_report Plots.*'
defect layer_violation src/stats/quantile.cc \
  '2i #include "answer/section.h"' '' check.layering
defect swallowed_crash src/process/running_worker.cc \
  's/!clean && !failure_\)/!clean \&\& !failure_ \&\& !WIFSIGNALED(status))/' 'paceline paceline_plugin_spin' cli.faults
coordinated='unit_run Coordinated.*:Resumed.*:Restarts.*'
defect measured_twice src/run/case/case_run.cc \
  's/ && !measured\(repetition\)\)/)/' unit_run "$coordinated"
defect interrupt_is_a_failure src/run/timed_passes.cc \
  's/if \(!interrupt_\) end_case/end_case/' unit_run "$coordinated"
defect changed_records_taken_over src/process/kept_records.cc \
  '/sha256_hex\(parts\.records\)\)/{N;d}' unit_run "$coordinated"
defect restart_of_what_ends_alike src/result/judged/reasons.cc \
  '/Reason\{"data"/,/kUsage/s/kEnds/kRestarts/' unit_run "$coordinated"
defect last_result_not_written src/run/case/result_keeper.cc \
  '/^result::RunResult ResultKeeper::finish/,/^}/s/^  write_changed\(\);//' unit_run "$coordinated"
launched='unit_run Launched.*:Following.*'
defect fault_again_after_restart src/run/ranks/launch.cc \
  's/train->inject\.clear\(\), //' unit_run "$launched"
defect end_of_others_is_an_interrupt src/run/ranks/launch.cc \
  's/if \(ended && !interrupt\)/if (false \&\& ended)/' unit_run "$launched"
defect share_beyond_the_world src/run/ranks/launch.cc \
  's/, world - place_\.rank\)/, world)/' unit_run "$launched"
double=plugin_tensorrt_double_11
defect misplaced_event plugins/tensorrt/plan_slot.cc \
  '/^  end_\.record/d; s/^  fetch_outputs\(memory, to_host\(\)\);/&\n  end_.record(stream_);/' $double $double
defect missing_context plugins/tensorrt/plan_engine.cc \
  '/auto& state = slots_\.bound\(slot\);/{n;/gpu_->use/d}' $double $double
defect unbound_address plugins/tensorrt/plan_slot.cc \
  '/^  bind_address\(output\.name, buffers\);/d' $double $double
defect ignored_late_error plugins/tensorrt/gpu.cc \
  's/check\((driver\(\)\.wait_for_stream\(stream_\)), "[^"]*"\)/(void)\1/' $double $double
defect missing_wait plugins/tensorrt/plan_slot.cc \
  '/PlanSlot::wait\(\)/,/^}/{/wait_for_last/d}' $double $double
defect block_that_runs_once plugins/tensorrt/plan_slot.cc \
  's/^  if \(sends\(\)\) \{/  if (started_ > 0) return;\n&/' $double $double
defect memory_reused_too_early plugins/tensorrt/plan_slot.cc \
  '/memory\.fetched\.hold\(stream_\)/d' $double $double
[ $unseen = 0 ] && echo "every planted defect was seen"
exit $unseen
