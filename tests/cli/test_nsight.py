# SPDX-License-Identifier: MIT
"""`paceline profile --from` with files of Nsight: a table of Nsight Compute from an H200 (most columns left out), exports of Nsight Systems, and stubs of both programs."""

import json
import os
import sqlite3
import stat
from pathlib import Path

import paceline_cli as cli

TABLE = Path(__file__).parent / "data" / "ncu_raw_h200.csv"
STUB = """#!/bin/sh
echo "$0 $*" >> "$STUB_LOG"
{body}
"""


def timeline(path):
    """An export of Nsight Systems: two kernels, between which the host is late, and a copy from pageable memory."""
    with sqlite3.connect(path) as file:
        file.executescript("""
            CREATE TABLE StringIds (id INTEGER, value TEXT);
            INSERT INTO StringIds VALUES (1, 'void at::relu<float>(int)');
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, demangledName INTEGER);
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100000, 200000, 0, 7, 2, 1), (300000, 400000, 0, 7, 3, 1);
            CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, bytes INTEGER,
                                                     copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);
            INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (0, 100000, 0, 7, 1, 4000000, 1, 0, 2);
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, correlationId INTEGER);
            INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0, 10, 1), (0, 20, 2), (250000, 290000, 3);""")
    file.close()
    return path


class Files(cli.CliTest):
    def test_the_table_of_an_h200_has_the_figures_that_nsight_shows(self):
        study = json.loads(self.run_cli("profile", "--from", TABLE, "--json").out)
        first = study["kernels"][0]
        self.assertTrue(first["name"].startswith("sm90_xmma_fprop_implicit_gemm"))
        self.assertEqual((first["launches"], first["time_ns"], first["registers_per_thread"]), (1, 19648, 168))
        for key, percent in (("compute_share", 39.43), ("memory_share", 33.02), ("dram_share", 10.57), ("tensor_share", 39.43), ("occupancy", 14.92),
                             ("occupancy_limit", 18.75), ("l1_hit_rate", 0), ("l2_hit_rate", 101.10)):
            self.assertAlmostEqual(first[key], percent / 100, 9, key)
        self.assertEqual((first["stall"], first["occupancy_limited_by"]), ("long scoreboard", "registers and shared memory"))
        self.assertAlmostEqual(first["bank_conflict_share"], 16027 / 1494574)
        self.assertAlmostEqual(sum(k["share"] for k in study["kernels"]), 1)

    def test_it_is_said_in_words_at_every_width(self):
        done = self.run_cli("profile", "--from", TABLE)
        out = done.on_one_line
        self.assertRegex(done.out, r"sm90_xmma_f\S+ +62 % +1 +19\.6 µs +39 % +33 % +39 % +15 % +long scoreboard")
        self.assertIn("waits for data of L1, L2 or DRAM", out)
        self.assertIn("at most 19 % for its registers and shared memory", out)
        self.assertIn("under Nsight Compute", out)

    def test_it_has_the_forms_of_a_report(self):
        out = self.run_cli("profile", "--from", TABLE, "-o", "kernels.html").out
        self.assertIn("report  kernels.html", out)
        page = (self.folder / "kernels.html").read_text(encoding="utf-8")
        for word in ("<h2>Kernels</h2>", "waits for data of L1, L2 or DRAM", "<summary>Evidence</summary>"):
            self.assertIn(word, page)
        self.assertIn("## Findings\n\n- **advice**: ", self.run_cli("profile", "--from", TABLE, "--format", "markdown").out)
        self.assertIn('<testsuite name="Kernels of ', self.run_cli("profile", "--from", TABLE, "--format", "junit").out)

    def test_another_order_of_columns_and_another_locale_change_nothing(self):
        import csv
        with TABLE.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        turned = [row[::-1] for row in rows]
        swapped = [rows[0], rows[1]] + [row[:11] + [cell.translate(str.maketrans(",.", ".,")) for cell in row[11:]] for row in rows[2:]]
        whole = json.loads(self.run_cli("profile", "--from", TABLE, "--json").out)
        for name, changed in (("turned.csv", turned), ("swapped.csv", swapped)):
            with (self.folder / name).open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, quoting=csv.QUOTE_ALL).writerows(changed)
            again = json.loads(self.run_cli("profile", "--from", name, "--json").out)
            self.assertEqual(again["kernels"], whole["kernels"], name)

    def test_a_cut_table_is_read_as_far_as_it_goes(self):
        text = TABLE.read_text(encoding="utf-8")
        self.write("cut.csv", text[:-40])
        study = json.loads(self.run_cli("profile", "--from", "cut.csv", "--json").out)
        self.assertEqual(len(study["kernels"]), 3)
        self.assertIn("ends inside a row", study["remarks"][0])

    def test_a_timeline_names_who_was_waited_for(self):
        timeline(self.folder / "t.sqlite")
        done = self.run_cli("profile", "--from", "t.sqlite")
        self.assertIn("device 0: 75 % of 400 µs busy, 50 % with kernels; waits for the host 22 %", done.out)
        self.assertIn("copies host to device use memory that is not pinned", done.out)
        study = json.loads(self.run_cli("profile", "--from", "t.sqlite", "--json").out)
        self.assertEqual(study["devices"][0]["late_host_ns"], 90000)
        self.assertEqual(study["copies"][0]["pageable_bytes"], 4000000)

    def test_other_files_are_refused_with_advice(self):
        self.write("plain.csv", "a,b\n1,2\n")
        self.write("no.sqlite", "text")
        self.write("empty.csv", "")
        for name, words in (("plain.csv", ("plain.csv", "--csv --page raw")), ("no.sqlite", ("no.sqlite", "Nsight Systems")), ("empty.csv", ("empty.csv",)),
                            ("absent.csv", ("absent.csv",)), ("absent.sqlite", ("absent.sqlite",))):
            self.assert_error(self.run_cli("profile", "--from", name), 2, *words)

    def test_a_folder_of_traces_with_such_a_name_is_one(self):
        (self.folder / "t.sqlite").mkdir()
        self.assertNotIn("Nsight", str(self.run_cli("profile", "--from", "t.sqlite")))


class Programs(cli.CliTest):
    """Reports that only their programs can read."""

    def stub(self, name, body):
        path = self.write(f"bin/{name}", STUB.format(body=body))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        self.env["PATH"] = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        self.env["STUB_LOG"] = str(self.folder / "calls")

    def calls(self):
        return (self.folder / "calls").read_text().splitlines()

    def test_a_missing_program_has_its_command_line(self):
        self.env["PATH"] = str(self.folder)
        self.write("k.ncu-rep", "x")
        self.write("t.nsys-rep", "x")
        self.assert_error(self.run_cli("profile", "--from", "k.ncu-rep"), 77, "ncu is not on the PATH", "ncu --import k.ncu-rep --csv --page raw")
        self.assert_error(self.run_cli("profile", "--from", "t.nsys-rep"), 77, "nsys export --type sqlite --output timeline.sqlite t.nsys-rep")

    def test_a_report_of_nsight_compute_goes_through_ncu(self):
        self.stub("ncu", f"cat '{TABLE}'")
        self.write("k.ncu-rep", "x")
        study = json.loads(self.run_cli("profile", "--from", "k.ncu-rep", "--json").out)
        self.assertEqual(study["kernels"][0]["time_ns"], 19648)
        self.assertEqual(len(self.calls()), 1)
        self.assertIn("--import", self.calls()[0])

    def test_a_report_of_nsight_systems_goes_through_nsys(self):
        made = timeline(self.folder / "made.sqlite")
        self.stub("nsys", f"cp '{made}' \"$5\"")
        self.write("t.nsys-rep", "x")
        study = json.loads(self.run_cli("profile", "--from", "t.nsys-rep", "--json").out)
        self.assertEqual(study["source"], "t.nsys-rep")
        self.assertEqual(study["devices"][0]["late_host_ns"], 90000)

    def test_an_export_that_wrote_nothing_is_said_with_the_command(self):
        for script, says in (("echo 'nothing to convert'", "it says: nothing to convert"), (': > "$5"', "it says: nothing")):
            self.stub("nsys", script)
            self.write("cut.nsys-rep", "x")
            self.assert_error(self.run_cli("profile", "--from", "cut.nsys-rep"), 2, "cut.nsys-rep: nsys export ended well and wrote no table", says,
                              "nsys export --type sqlite cut.nsys-rep")

    def test_a_program_that_fails_is_quoted(self):
        self.stub("ncu", "echo 'report is of a newer version' >&2; exit 3")
        self.write("k.ncu-rep", "x")
        self.assert_error(self.run_cli("profile", "--from", "k.ncu-rep"), 2, "exit code 3", "report is of a newer version")


if __name__ == "__main__":
    cli.main()
