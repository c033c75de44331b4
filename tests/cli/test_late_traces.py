# SPDX-License-Identifier: MIT
"""Which rank is late, from traces whose truth is known: few steps, gradient accumulation, ranks that are late now and then."""

import json

from known_traces import jitter, write_traces
from paceline_cli import CliTest, main


class LateTraces(CliTest):
    def profile(self, *arguments, **traces):
        write_traces(self.folder / "traces", **traces)
        result = self.run_cli("profile", "--from", "traces", *arguments)
        self.assert_code(result, 0)
        return result

    def named(self, **traces):
        """The rank that is named, whether with certainty, and the first bottleneck."""
        profile = json.loads(self.profile("--json", **traces).out)
        both = profile["late"] + profile["suspected"]
        title = profile["bottlenecks"][0]["title"] if profile["bottlenecks"] else ""
        return [(late["rank"], late["certain"]) for late in both], title, both

    def test_too_few_steps_are_not_nobody(self):
        for steps in (3, 4):
            with self.subTest(steps=steps):
                named, title, _ = self.named(own=lambda rank, step: 100 + 200 * (rank == 1), ranks=4, steps=steps)
                self.assertEqual(named, [(1, False)])
                self.assertTrue(title.endswith(f"rank 1 came last in {steps - 1} of {steps - 1} steps and caused all of the waiting; "
                                               "too few steps to be certain: time at least 8 steps."), title)

    def test_five_steps_are_enough(self):
        for ranks in (2, 4):
            named, title, _ = self.named(own=lambda rank, step: 100 + 200 * (rank == 1), ranks=ranks, steps=5)
            self.assertEqual(named, [(1, True)])
            self.assertIn("the others wait for rank 1", title)

    def test_a_step_without_an_exchange_has_no_last_rank(self):
        named, _, late = self.named(own=lambda rank, step: 100 + 60 * (rank == 1), exchanges=lambda step: step % 4 == 3, steps=24)
        self.assertEqual(named, [(1, True)])
        self.assertAlmostEqual(late[0]["late_ns"], 60e6, delta=1e5)
        self.assertAlmostEqual(late[0]["cost_ns"], 60e6, delta=1e5)
        self.assertEqual((late[0]["exchanges"], late[0]["last_share"]), (5, 1))
        named, title, _ = self.named(own=lambda rank, step: 100 + 60 * (rank == 1), exchanges=lambda step: step % 4 == 3, steps=12)
        self.assertEqual(named, [(1, False)])
        self.assertIn("2 of 2 exchanges and caused all of the waiting; too few steps to be certain: time at least 49 steps", title)

    def test_accumulation_on_healthy_ranks_accuses_nobody(self):
        for seed in range(12):
            named, _, _ = self.named(own=jitter(seed, 0.05 if seed % 2 else 0.10), exchanges=lambda step: step % 4 == 3, steps=24)
            self.assertEqual([one for one in named if one[1]], [])

    def test_a_rank_that_became_slow(self):
        named, _, late = self.named(own=lambda rank, step: 100 + rank % 2 + 40 * (rank == 1 and step >= 10)
                                    - 2 * (rank == 1 and step < 10 and step % 2))
        self.assertEqual(named, [(1, True)])
        self.assertEqual((late[0]["since_step"], late[0]["late_exchanges"]), (10, 10))
        self.assertIn(", since step 10", self.profile(own=lambda rank, step: 100 + 40 * (rank == 1 and step >= 10)).on_one_line)

    def test_a_rank_that_was_slow_or_is_now_and_then(self):
        late = {"until step 6": lambda step: step <= 6, "every 4 steps": lambda step: step % 4 == 3,
                "from step 7 to step 13": lambda step: 7 <= step <= 13}
        for words, when in late.items():
            with self.subTest(words):
                noise = jitter(1, 0.01)
                text = self.profile(own=lambda rank, step: noise(rank, step) + 40 * (rank == 1 and when(step))).on_one_line
                self.assertIn("1 the others wait for rank 1", text)
                self.assertIn(words, text)

    @staticmethod
    def with_batches(batch):
        """Shapes of the forward pass, as record_shapes=True writes them."""
        def edit(rank, events):
            for event in events:
                if event["name"] == "aten::mm":
                    event["args"] = {"Input Dims": [[batch(rank), 64], [64, 64]]}
            return events
        return edit

    def test_shapes_in_the_traces_say_whether_a_rank_computes_more(self):
        slow = {"own": lambda rank, step: 100 + 40 * (rank == 1), "steps": 12}
        profile = json.loads(self.profile("--json", edit=self.with_batches(lambda rank: 48 if rank == 1 else 32), **slow).out)
        first = profile["bottlenecks"][0]
        self.assertIn("cause: larger inputs", first["title"])
        self.assertIn("its batches are larger: 48 samples, the others have 32", first["evidence"])
        self.assertIn("batches of one size", first["advice"])
        self.assertEqual(profile["late"][0]["causes"][0]["name"], "larger_inputs")
        profile = json.loads(self.profile("--json", edit=self.with_batches(lambda rank: 32), **slow).out)
        self.assertEqual(profile["late"][0]["causes"], [])
        self.assertNotIn("cause", profile["bottlenecks"][0]["title"])
        self.assertFalse(any("shapes" in what for what in profile["untold"]), profile["untold"])
        profile = json.loads(self.profile("--json", **slow).out)
        self.assertTrue(any("computes more than the others: the trace has no shapes" in what for what in profile["untold"]), profile["untold"])

    def test_waiting_in_a_pipeline_is_no_matter_of_buckets(self):
        for collective in ("gloo:send", "gloo:recv"):
            profile = json.loads(self.profile("--json", own=lambda rank, step: 100 + 40 * (rank == 1), collective=collective).out)
            self.assertEqual(profile["late"] + profile["suspected"], [])
            self.assertIn("the stages of the pipeline wait", profile["bottlenecks"][0]["title"])
            self.assertIn("micro-batches", profile["bottlenecks"][0]["advice"])
            self.assertIsNone(profile["straggler_wait_share"])
            self.assertTrue(any("nobody knows who waits for whom" in what for what in profile["untold"]), profile["untold"])

    def test_exposed_means_one_thing(self):
        """The table of ranks has exposed communication, waiting included; what is left without waiting has another name."""
        done = self.profile(own=lambda rank, step: 100 + 40 * (rank == 1))
        self.assertIn("communication itself 3.4 %, waiting for late ranks 27.4 %", done.on_one_line)
        self.assertEqual([line for line in done.out.splitlines() if "exposed" in line and "sync stalls" in line], [])

    def test_work_before_buffers_are_sent_is_late_work_and_no_communication(self):
        """DDP sends the buffers of a batch norm before each forward pass; other jobs exchange there, too."""
        for buffers in ("gloo:broadcast", "gloo:all_gather", "gloo:all_to_all", "gloo:barrier"):
            with self.subTest(buffers):
                arguments = {"own": lambda rank, step: 20 + 60 * (rank == 1), "buffers": buffers}
                self.assertEqual(self.named(**arguments)[0], [(1, True)])
                text = self.profile(**arguments).on_one_line
                self.assertIn("communication itself 6.2 %, waiting for late ranks 61.9 %", text)
                self.assertIn("the others wait for rank 1", text)
                self.assertNotIn("compress_hook", text)

    def test_level_ranks_have_no_last_one(self):
        profile = json.loads(self.profile("--json", own=lambda rank, step: 100).out)
        for rank in profile["ranks"]:
            self.assertIsNone(rank["last_share"])
            self.assertIn("level", rank["last_share_reason"])
        self.assertEqual(profile["late"] + profile["suspected"], [])
        self.assertIn("No bottleneck was found.", self.profile(own=lambda rank, step: 100).on_one_line)


if __name__ == "__main__":
    main()
