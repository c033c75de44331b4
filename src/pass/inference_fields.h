// SPDX-License-Identifier: MIT
#pragma once
#include "base/archive.h"
#include "pass/inference_spec.h"
#include "result/stored/case_fields.h"

// Field lists of InferenceSpec for its JSON form (base/archive.h).
namespace paceline::pass {

PACELINE_FIELDS(Tolerance, max_rel_err, centred_cosine, max_abs_err, quantile_err, max_decides, scale,
                quantile_written, ulps, rounds);
PACELINE_FIELDS(PrecisionLimits, precision, tolerance, max_changed, outputs_decide_too, needs_evidence,
                eight_bits);
PACELINE_FIELDS(AccuracyQuestion, answers, answers_because, trained, outputs_decide_too, max_changed, claim,
                inputs, samples_asked, samples_given, least_samples, labels_file, labels, expected_file,
                generated, needs_evidence, eight_bits, yardsticks, unit_only, every_change, unchecked_because,
                independence, refused_by, witness_file, witness_name, engine_file, is_own_run, engine_name);
PACELINE_FIELDS(LoadSpec, scenario, concurrency, instances, instance, rate_per_s, share, instances_per_device,
                devices, arrival, schedule_file, arrival_seed, t_min_s, t_max_s, timeout_s, max_requests,
                max_batch, batch_timeout_s, slo_p, slo_bound_s);
PACELINE_FIELDS(NewShape, name, sizes);
PACELINE_FIELDS(InferenceSpec, input_files, batch_dimensions, samples, reference_file, reference_name,
                dump_folder, tolerance, output_tolerances, limits, accuracy, cache_mode, gap_ns, new_shapes,
                feedback, load, check_file, seat, alone);

}  // namespace paceline::pass
