# SPDX-License-Identifier: MIT
"""`paceline monitor`: lines, screen, recording, server; on this machine, and on GPUs that are only shown (tests/support/fake_nvml.cc)."""

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import termios
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import paceline_cli as cli
from paceline_cli import wait_until

TOKEN = "a-long-secret"


def get(url, headers=None, timeout=10):
    """Status and text of an answer."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers or {}), timeout=timeout) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def of_machine(out):
    """The lines of readings, without those of other tests' runs."""
    return [line for line in out.splitlines() if re.match(r"\d\d:\d\d:\d\d  cpu ", line)]


class Lines(cli.CliTest):
    def test_a_line_per_reading_with_figures_of_this_machine(self):
        lines = of_machine(self.run_cli("monitor", "--count", "3", "--interval-s", "0.2").out)
        self.assertEqual(len(lines), 3)
        self.assertRegex(lines[0], r"^\d\d:\d\d:\d\d  cpu –  memory [\d.]+ [MG]B of [\d.]+ [MG]B")
        for line in lines[1:]:
            self.assertRegex(line, r"  cpu \d+ %  memory ")

    def test_json_has_a_reading_per_line(self):
        one, two = [json.loads(line) for line in self.run_cli("monitor", "--count", "2", "--interval-s", "0.1", "--json").out.splitlines()]
        self.assertGreater(two["steady_ns"], one["steady_ns"])
        modes = {p["labels"]["mode"] for p in two["families"]["paceline_cpu_seconds_total"]}
        self.assertEqual(modes, {"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"})
        if not cli.GPU:
            self.assertTrue(any(reason.startswith("GPUs: ") for reason in two["absent"]), two["absent"])
            self.assertFalse([name for name in two["families"] if "gpu" in name])

    def test_a_run_on_this_machine_is_seen_with_its_figures(self):
        run = self.start("infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", "--iterations", "2000",
                         *cli.QUICK, env={"SPIN_US": "5000"})
        def seen():
            out = self.run_cli("monitor", "--count", "1", "--json").out
            return [r for r in json.loads(out)["runs"] if Path(r["folder"]).is_relative_to(self.folder) and r["per_s"]]
        self.assertTrue(wait_until(seen))
        mine, = seen()
        self.assertEqual(mine["process_id"], run.pid)
        self.assertEqual(mine["experiment"], "infer")
        self.assertIn("x.spin", mine["label"])
        self.assertLess(mine["per_s"], 1000 / 5 * 1.05)
        self.assertIn("  n=", self.run_cli("monitor", "--count", "1").out)
        run.send_signal(signal.SIGTERM)
        run.communicate(timeout=60)
        self.assertEqual(seen(), [])

    def test_ranks_that_train_are_seen_with_their_throughput_and_the_slowest(self):
        self.start("train", "--plugin", cli.SPIN, "--model", "tiny_cnn", "--ranks", "2", "--backend", "gloo", "--batch", "4", "--steps", "100000",
                   "--idle-wait-s", "0", "--allow-noisy", env={"SPIN_US": "4000"})
        def seen():
            runs = json.loads(self.run_cli("monitor", "--count", "1", "--json").out)["runs"]
            return [r for r in runs if Path(r["folder"]).is_relative_to(self.folder) and r["samples_per_s"] and r["slowest"]]
        self.assertTrue(wait_until(seen))
        mine, = seen()
        self.assertIn(mine["slowest"]["rank"], (0, 1))
        self.assertGreater(mine["step"], 0)

    def test_a_recording_is_shown_again_and_a_cut_one_up_to_its_last_line(self):
        self.run_cli("monitor", "--count", "3", "--interval-s", "0.1", "--record", "m.jsonl", "--quiet")
        shown = of_machine(self.run_cli("monitor", "--replay", "m.jsonl").out)
        self.assertEqual(len(shown), 3)
        self.assertEqual(of_machine(self.run_cli("monitor", "--replay", "m.jsonl", "--count", "2").out), shown[:2])
        text = (self.folder / "m.jsonl").read_text(encoding="utf-8")
        self.write("cut.jsonl", text[:-20])
        cut = self.run_cli("monitor", "--replay", "cut.jsonl")
        self.assertEqual(of_machine(cut.out), shown[:2])
        self.assertIn("cut.jsonl: its last line is not whole", cut.err)
        damaged = text.splitlines()
        self.write("damaged.jsonl", "\n".join([damaged[0], "{", *damaged[2:]]) + "\n")
        self.assert_error(self.run_cli("monitor", "--replay", "damaged.jsonl"), 2, "damaged.jsonl", "line 2")

    def test_it_ends_when_nobody_reads_its_output(self):
        for how in ((), ("--json",)):
            process = self.start("monitor", "--interval-s", "0.1", *how)
            process.stdout.readline()
            process.stdout.close()
            process.wait(timeout=20)

    def test_mistakes_have_one_message(self):
        self.write("there.jsonl", "mine")
        for arguments, code, words in (
                (("--record", "there.jsonl", "--count", "1"), 2, ("there.jsonl", "exists")),
                (("--replay", "there.jsonl"), 2, ("not a recording",)),
                (("--replay", "absent.jsonl"), 2, ("absent.jsonl",)),
                (("--record", "no/folder.jsonl", "--count", "1"), 2, ("no/folder.jsonl",)),
                (("--record", "a", "--replay", "b"), 2, ("record", "replay")),
                (("--serve", "nonsense"), 2, ("--serve", "nonsense", "127.0.0.1:9400")),
                (("--serve", "::1"), 2, ("--serve", "'::1'", "[::1]:9400")),
                (("--serve", "0.0.0.0:0"), 2, ("--serve 0.0.0.0", "PACELINE_MONITOR_TOKEN")),
                (("--serve", "192.0.2.7:0"), 2, ("PACELINE_MONITOR_TOKEN",)),
                (("--interval-s", "0"), 2, ("--interval-s",)),
                (("--count", "-1"), 2, ("--count",)),
                (("model.onnx",), 2, ("model.onnx",))):
            self.assert_error(self.run_cli("monitor", *arguments), code, *words)
        self.assertEqual((self.folder / "there.jsonl").read_text(), "mine")

    def test_a_report_of_a_recording_has_its_figures_and_its_courses(self):
        self.run_cli("monitor", "--count", "5", "--interval-s", "0.1", "--record", "m.jsonl", "--quiet")
        text = self.run_cli("report", "m.jsonl", "--format", "text").out
        self.assertRegex(text, r"5 readings in 4\d\d ms on ")
        self.assertRegex(text, r"CPUs busy +% +[\d.]+ +[\d.]+ +[\d.]+ +4\n")
        self.assertRegex(text, r"memory used +GB +[\d.]+ +[\d.]+ +[\d.]+ +5\n")
        self.assertIn("| CPUs busy | % |", self.run_cli("report", "m.jsonl", "--format", "markdown").out)
        figures = json.loads(self.run_cli("report", "m.jsonl", "--format", "json").out)
        self.assertEqual(figures["readings"], 5)
        self.assertIn("5 readings in ", figures["sentence"])
        self.assertIn("m.html", self.run_cli("report", "m.jsonl").out)
        page = (self.folder / "m.html").read_text(encoding="utf-8")
        self.assertIn("<svg", page)
        self.assertRegex(page, "No timed pass was seen.|Shade: a timed pass")  # of another test
        self.assert_error(self.run_cli("report", "m.jsonl", "--format", "csv"), 2, "--format csv", "no cases", "markdown")
        self.assert_error(self.run_cli("report", "m.jsonl", "m.jsonl"), 2, "is reported alone")
        self.assert_error(self.run_cli("report", "m.jsonl", "-f", "html", "-o", "m.jsonl"), 2, "m.jsonl is the recording itself", "--output")
        lines = (self.folder / "m.jsonl").read_text(encoding="utf-8").splitlines()
        head = json.dumps({"host": "a" * 200, "paceline_monitor": json.loads(lines[0])["paceline_monitor"]})
        self.write("long.jsonl", "\n".join([head, *lines[1:3], '{"cut']))
        cut = self.run_cli("report", "long.jsonl", "--format", "text").out
        self.assertIn("a" * 200, cut)
        self.assertIn("ends within a line", cut)
        self.write("empty.jsonl", (self.folder / "m.jsonl").read_text(encoding="utf-8").splitlines()[0] + "\n")
        self.assert_error(self.run_cli("report", "empty.jsonl"), 2, "empty.jsonl", "no readings")

    def test_an_interrupt_ends_it_and_keeps_what_was_recorded(self):
        process = self.start("monitor", "--interval-s", "0.1", "--record", "m.jsonl", "--quiet")
        self.assertTrue(wait_until(lambda: (self.folder / "m.jsonl").exists() and (self.folder / "m.jsonl").read_text().count("\n") > 2))
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(process).code, 0)
        self.assertGreater(len(of_machine(self.run_cli("monitor", "--replay", "m.jsonl").out)), 1)


class BesideARun(cli.CliTest):
    SPIN = ("infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", "--iterations", "400", *cli.QUICK,
            "--monitor", "--output-dir", "r")

    def run_folder(self):
        return next(self.folder.glob("r/*/*/run_summary.json")).parent

    def test_its_readings_are_in_the_run_and_in_its_report(self):
        self.run_cli(*self.SPIN, env={"SPIN_US": "5000"})
        run = self.run_folder()
        lines = (run / "monitor.jsonl").read_text(encoding="utf-8").splitlines()
        self.assertGreaterEqual(len(lines), 3)
        seen = [r for line in lines[1:] for r in json.loads(line)["runs"] if r["folder"] == str(run)]
        self.assertTrue([r for r in seen if r["number"] == 1 and r["samples_per_s"]], seen)
        self.run_cli("report", str(run))
        page = (run / "report.html").read_text(encoding="utf-8")
        self.assertIn('<section id="machine">', page)
        self.assertIn("Shade: a timed pass was under way.", page)
        self.assertIn("| CPUs busy | % |", self.run_cli("report", str(run), "--format", "markdown").out)
        (run / "monitor.jsonl").write_text("{}\n", encoding="utf-8")
        self.run_cli("report", str(run))
        self.assertIn("what the machine did cannot be drawn", (run / "report.html").read_text(encoding="utf-8"))
        self.assertNotIn('id="machine"', (run / "report.html").read_text(encoding="utf-8"))
        (run / "monitor-2.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.run_cli("report", str(run))
        self.assertIn('id="machine"', (run / "report.html").read_text(encoding="utf-8"))
        (run / "monitor-2.jsonl").unlink()
        (run / "monitor.jsonl").unlink()
        self.run_cli("report", str(run))
        self.assertNotIn('id="machine"', (run / "report.html").read_text(encoding="utf-8"))

    def test_without_it_nothing_is_recorded(self):
        self.run_cli(*[word for word in self.SPIN if word != "--monitor"], env={"SPIN_US": "100"})
        self.assertFalse((self.run_folder() / "monitor.jsonl").exists())

    def test_a_terminal_shows_the_machine_below_the_line_of_the_run(self):
        terminal, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        run = subprocess.Popen([cli.BINARY, *self.SPIN], stdin=theirs, stdout=theirs, stderr=theirs, cwd=self.folder, close_fds=True,
                               env={**os.environ, "SPIN_US": "5000", "TERM": "xterm", "LANG": "C.UTF-8"})
        os.close(theirs)
        shown = b""
        while run.poll() is None or select.select([terminal], [], [], 0)[0]:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    shown += os.read(terminal, 65536)
                except OSError:
                    break
        os.close(terminal)
        self.assertEqual(run.wait(timeout=60), 0)
        text = shown.decode()
        self.assertRegex(text, r"measure  n=\d+.*\x1b\[K\r?\ncpu      \d+ % of \d+ CPU")
        self.assertIn("\r\x1b[J", text[text.rindex("\ncpu      "):], "what is cleared, with the lines below, before the result is printed")


class Screen(cli.CliTest):
    """The full-screen view, in a terminal of a given size."""

    def terminal(self, *arguments, rows=30, columns=80, term="xterm"):
        parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        process = subprocess.Popen([cli.BINARY, "monitor", "--interval-s", "0.2", *arguments], stdin=child, stdout=child, stderr=child, cwd=self.folder,
                                   env={**self.env, "TERM": term, "LC_ALL": "C.UTF-8"}, start_new_session=True)
        os.close(child)
        self.addCleanup(os.close, parent)
        self.addCleanup(cli.end_group, process)
        return process, parent

    @staticmethod
    def read(parent, seconds, pattern=None):
        """Returns the text drawn within so many seconds, or until the pattern is in it."""
        text, until = b"", time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not (pattern and re.search(pattern, text.decode(errors="replace"))):
            if select.select([parent], [], [], left)[0]:
                try:
                    text += os.read(parent, 65536)
                except OSError:
                    break
        return text.decode(errors="replace")

    def test_it_draws_follows_the_size_and_gives_the_terminal_back(self):
        process, parent = self.terminal()
        first = self.read(parent, 30, "memory")
        self.assertIn("\x1b[?1049h", first)  # the other screen
        for words in ("paceline monitor", "cpu", "memory"):
            self.assertIn(words, first)
        fcntl.ioctl(parent, termios.TIOCSWINSZ, struct.pack("HHHH", 5, 40, 0, 0))
        os.killpg(process.pid, signal.SIGWINCH)
        self.assertRegex(self.read(parent, 30, "more lines"), "… \\d+ more lines")
        os.write(parent, b"q")
        last = self.read(parent, 30, r"\x1b\[\?1049l")
        self.assertEqual(process.wait(timeout=10), 0)
        self.assertIn("\x1b[?1049l", last)

    def test_what_does_not_change_is_not_drawn_again(self):
        process, parent = self.terminal("--interval-s", "0.1")
        self.read(parent, 30, "memory")
        self.read(parent, 0.5)
        again = self.read(parent, 1)
        self.assertNotIn("\x1b[2J", again)
        self.assertNotIn("paceline monitor", again)
        process.send_signal(signal.SIGINT)
        self.read(parent, 1)
        self.assertEqual(process.wait(timeout=10), 0)

    def test_a_terminal_that_cannot_be_drawn_on_gets_lines(self):
        process, parent = self.terminal("--count", "2", term="no-such-terminal")
        text = self.read(parent, 30, r"(?s):\d\d  cpu.*:\d\d  cpu.*\n")  # a run of another test may have "cpu" in its name
        self.assertEqual(process.wait(timeout=10), 0)
        self.assertIn("is TERM right?", text)
        self.assertEqual(len(re.findall(r"\d\d:\d\d:\d\d  cpu", text)), 2)

    def test_a_terminal_that_goes_away_ends_it(self):
        process, parent = self.terminal()
        self.read(parent, 30, "memory")
        os.killpg(process.pid, signal.SIGHUP)
        self.assertEqual(process.wait(timeout=10), 0)


class Served(cli.CliTest):
    def serve(self, *arguments, address="127.0.0.1:0", **options):
        """The running monitor and its address."""
        process = self.start("monitor", "--serve", address, "--interval-s", "0.2", *arguments, stderr=subprocess.STDOUT, **options)
        line = process.stdout.readline().decode()
        found = re.search(r"serving (http://\S+/) and ", line)
        self.assertTrue(found, line)
        threading.Thread(target=process.stdout.read, daemon=True).start()
        self.assertTrue(wait_until(lambda: get(found[1] + "metrics", {"Authorization": f"Bearer {TOKEN}"})[0] == 200))
        return process, found[1]

    def test_metrics_are_those_of_now(self):
        _, url = self.serve()
        def seconds():
            text = get(url + "metrics")[1]
            return sum(float(v) for v in re.findall(r'paceline_cpu_seconds_total\{.*\} (\S+)', text))
        first = seconds()
        self.assertTrue(wait_until(lambda: seconds() > first))
        live = json.loads(get(url + "live.json")[1])
        self.assertLess(abs(live["utc_ms"] / 1000 - time.time()), 5)
        self.assertIsNotNone(live["usage"]["cpu"]["busy"])

    def test_without_the_token_there_is_no_answer(self):
        _, url = self.serve(address="0.0.0.0:0", env={"PACELINE_MONITOR_TOKEN": TOKEN})
        url = url.replace("0.0.0.0", "127.0.0.1")
        self.assertEqual(get(f"{url}metrics?token={TOKEN}")[0], 200)
        for path, headers in (("metrics", {}), ("", {}), ("live.json", {}), ("metrics?token=x", {}), ("metrics", {"Authorization": "Bearer x"}),
                              ("metrics", {"Authorization": f"Basic {TOKEN}"})):
            status, text = get(url + path, headers)
            self.assertEqual(status, 401, path)
            self.assertNotIn("paceline_", text)

    def test_a_page_of_a_stranger_cannot_read_it_through_a_browser(self):
        _, url = self.serve()
        self.assertEqual(get(url + "live.json", {"Host": "stranger.example"})[0], 403)

    def test_a_failed_start_leaves_no_recording(self):
        self.assert_error(self.run_cli("monitor", "--record", "m.jsonl", "--serve", "192.0.2.7:0"), 2, "--serve")
        self.assertFalse((self.folder / "m.jsonl").exists())

    def test_a_token_is_text_that_an_address_can_carry(self):
        self.assert_error(self.run_cli("monitor", "--serve", "127.0.0.1:0", "--count", "1", env={"PACELINE_MONITOR_TOKEN": "a b"}), 2, "PACELINE_MONITOR_TOKEN")

    def test_a_port_that_is_taken_is_named(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.assert_error(self.run_cli("monitor", "--serve", f"127.0.0.1:{port}", "--count", "1"), 2, "--serve", str(port), "in use")

    def test_malformed_questions_are_answered(self):
        _, url = self.serve()
        port = int(url.rsplit(":", 1)[1].strip("/"))
        for question, answer in ((b"GARBAGE\r\n\r\n", b"400"), (b"GET / HTTP/9.9\r\n\r\n", b"400"), (b"GET /" + b"x" * 20000, b"431"),
                                 (b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n", b"413"),
                                 (b"DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"405"), (b"\x16\x03\x01\x02\x00\x01\x00\x01", b"400")):
            with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
                client.sendall(question)
                client.shutdown(socket.SHUT_WR)
                said = client.recv(4096)
            self.assertEqual(said[9:12], answer, question[:30])
        self.assertEqual(get(url + "metrics")[0], 200)

    def test_two_hundred_clients_cost_no_reading(self):
        process, url = self.serve("--record", "m.jsonl")
        port = int(url.rsplit(":", 1)[1].strip("/"))
        slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(50)]
        for one in slow:
            one.sendall(b"GET /live.json HTTP/1.1\r\n")  # and never the rest
        answers, stop = [], time.monotonic() + 4
        def ask():
            while time.monotonic() < stop:
                answers.append(get(url + "metrics")[0])
        def disturb():
            while time.monotonic() < stop:
                with socket.create_connection(("127.0.0.1", port)) as one:
                    one.sendall(os.urandom(64) + b"\r\n\r\n")
                    one.settimeout(5)
                    try:
                        one.recv(64)
                    except OSError:
                        pass
                time.sleep(0.05)
        begun = time.monotonic()
        clients = [threading.Thread(target=job) for job in [ask] * 100 + [disturb] * 50]
        for one in clients:
            one.start()
        for one in clients:
            one.join()
        elapsed = time.monotonic() - begun
        self.assertEqual(set(answers), {200})
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=20), 0)
        lines = (self.folder / "m.jsonl").read_text().splitlines()[1:]
        times = [json.loads(line)["utc_ms"] / 1000 for line in lines]
        during = [b - a for a, b in zip(times, times[1:])]
        # A reading is left out only where the machine had no CPU for it: two in a row would be the server's doing.
        self.assertGreater(len(times), elapsed / 0.2 / 4, during)
        for one in slow:
            one.close()

    def test_prometheus_scrapes_it(self):
        if not shutil.which("prometheus"):
            self.skipTest("no prometheus here")
        _, url = self.serve(env={"PACELINE_MONITOR_TOKEN": TOKEN})
        target = url.split("/")[2]
        port = free_port()
        self.write("token", TOKEN)
        self.write("prometheus.yml", "global: {scrape_interval: 200ms, scrape_timeout: 200ms}\nscrape_configs:\n- job_name: paceline\n"
                   f"  authorization: {{credentials_file: {self.folder / 'token'}}}\n  static_configs: [{{targets: ['{target}']}}]\n")
        prometheus = subprocess.Popen(["prometheus", f"--config.file={self.folder / 'prometheus.yml'}", f"--storage.tsdb.path={self.folder / 'tsdb'}",
                                       f"--web.listen-address=127.0.0.1:{port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(cli.end_group, prometheus)
        def query(what):
            try:
                return json.loads(get(f"http://127.0.0.1:{port}/api/v1/query?query={what}")[1])["data"]["result"]
            except (OSError, KeyError, ValueError):
                return []
        self.assertTrue(wait_until(lambda: query("up") and query("up")[0]["value"][1] == "1", timeout=60))
        self.assertTrue(wait_until(lambda: query("rate(paceline_cpu_seconds_total[5s])"), timeout=60))
        kinds = json.loads(get(f"http://127.0.0.1:{port}/api/v1/targets/metadata")[1])["data"]
        kinds = {one["metric"]: one["type"] for one in kinds}
        panels = json.loads((Path(__file__).parents[2] / "examples" / "grafana" / "paceline-monitor.json").read_text(encoding="utf-8"))["panels"]
        for panel in panels:  # Grafana fills in its own names
            for target in panel["targets"]:
                asked = urllib.parse.quote(target["expr"].replace("$__rate_interval", "5s").replace("$instance", ".*"))
                self.assertEqual(json.loads(get(f"http://127.0.0.1:{port}/api/v1/query?query={asked}")[1])["status"], "success", target["expr"])
                named = set(re.findall(r"paceline_\w+", target["expr"]))
                self.assertEqual({n for n in named if not n.startswith(("paceline_gpu_", "paceline_rapl_", "paceline_run_"))} - set(kinds), set())
        self.assertEqual((kinds["paceline_cpu_seconds_total"], kinds["paceline_load1"]), ("counter", "gauge"))

    def test_the_page_draws_in_a_browser(self):
        if not shutil.which("chromium"):
            self.skipTest("no chromium here")
        _, url = self.serve()
        self.assertTrue(wait_until(lambda: len(json.loads(get(url + "readings.json")[1])) > 5))
        done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=6000", f"--user-data-dir={self.folder}/profile",
                               "--dump-dom", url], capture_output=True, text=True, check=False, timeout=90)
        page = done.stdout
        self.assertRegex(page, r"the monitor takes [\d.]+ % of a core")
        for title in ("CPU", "Memory", "Each CPU"):
            self.assertIn(f"<b>{title}</b>", page)
        self.assertRegex(page, r'<polyline points="[ ]*(\d+,[\d.]+ ){4,}')


@unittest.skipIf(cli.GPU, "this machine shows an NVIDIA device")
class Gpus(cli.CliTest):
    def readings(self, script, count, interval_s=0.1):
        self.env["FAKE_NVML"] = str(self.write("nvml.txt", script))
        self.env["LD_LIBRARY_PATH"] = str(Path(os.environ["PACELINE_FAKE_NVML"]).parent)
        return [json.loads(line) for line in self.run_cli("monitor", "--json", "--count", str(count), "--interval-s", str(interval_s)).out.splitlines()]

    @staticmethod
    def values(reading, family):
        return [p["value"] for p in reading["families"].get(family, [])]

    def test_beside_a_run_it_leaves_the_choice_of_gpus_alone(self):
        self.env.update(FAKE_NVML=str(self.write("nvml.txt", "* ClockInfo.1 1980\n")), CUDA_VISIBLE_DEVICES="1",
                        LD_LIBRARY_PATH=str(Path(os.environ["PACELINE_FAKE_NVML"]).parent))
        run = self.start(*BesideARun.SPIN, env={"SPIN_US": "5000"})
        def of_workers():
            recorded = list(self.folder.glob("r/*/*/monitor.jsonl"))
            if not recorded or len(recorded[0].read_text().splitlines()) < 2:
                return []
            found = []
            for stat in Path("/proc").glob("[0-9]*/stat"):
                try:
                    if re.search(rf"\) [SR] {run.pid} ", stat.read_text()):
                        found.append((stat.parent / "environ").read_bytes().split(b"\0"))
                except OSError:  # it has ended
                    continue
            return found

        seen = []
        self.assertTrue(wait_until(lambda: seen.extend(of_workers()) or seen))
        for variables in seen:
            self.assertIn(b"CUDA_VISIBLE_DEVICES=1", variables)
            self.assertNotIn(b"CUDA_DEVICE_ORDER=PCI_BUS_ID", variables)
        recording = next(self.folder.glob("r/*/*/monitor.jsonl")).read_text().splitlines()
        self.assertEqual(len(self.values(json.loads(recording[1]), "paceline_gpu_sm_clock_hertz")), 2, "all GPUs, whatever is visible")
        run.send_signal(signal.SIGTERM)

    def test_every_gpu_is_read_in_base_units(self):
        one, = self.readings("* ClockInfo.1 1980\n* FieldValues.186 699500\n* Temperature 63\n* CurrentClocksEventReasons 0x4\n", 1)
        self.assertEqual(self.values(one, "paceline_gpu_sm_clock_hertz"), [1.98e9, 1.98e9])
        self.assertEqual(self.values(one, "paceline_gpu_power_watts"), [699.5, 699.5])
        self.assertEqual(self.values(one, "paceline_gpu_temperature_celsius"), [63, 63])
        self.assertEqual(self.values(one, "paceline_gpu_utilization_ratio"), [0.97, 0.97])
        self.assertEqual(one["families"]["paceline_gpu_slowdown"][0]["labels"],
                         {"gpu": "0", "UUID": "GPU-aa", "modelName": "NVIDIA H200", "state": "power cap"})

    def test_what_changes_slowly_is_read_at_every_reading(self):
        first, second = self.readings("* UtilizationRates.gpu 97 20\n* Temperature 63 70\n", 2, interval_s=1)
        self.assertEqual((self.values(first, "paceline_gpu_utilization_ratio")[0], self.values(second, "paceline_gpu_utilization_ratio")[0]), (0.97, 0.2))
        self.assertEqual((self.values(first, "paceline_gpu_temperature_celsius")[0], self.values(second, "paceline_gpu_temperature_celsius")[0]), (63, 70))

    def test_a_figure_that_ends_does_not_stay(self):
        *_, last = self.readings("* Temperature 63 !3\n", 16, interval_s=1)
        self.assertEqual(self.values(last, "paceline_gpu_temperature_celsius"), [])
        self.assertEqual(len(self.values(last, "paceline_gpu_sm_clock_hertz")), 2)

    def test_an_unknown_error_leaves_no_old_value(self):
        before, after = self.readings("0 FieldValues.186 699500 !999\n0 PowerUsage !999\n0 CurrentClocksEventReasons 0x4 !999\n1 CurrentClocksEventReasons 0x1\n", 2)
        self.assertEqual(self.values(before, "paceline_gpu_power_watts"), [699.5, 126.12])
        self.assertEqual(self.values(after, "paceline_gpu_power_watts"), [126.12])
        self.assertEqual([p["labels"]["gpu"] for p in after["families"].get("paceline_gpu_slowdown", [])], ["1"])
        self.assertTrue(any("GPU 0: power: Unknown Error" in why for why in after["absent"]), after["absent"])

    def test_a_gpu_that_is_lost_leaves_the_others_and_comes_back(self):
        first, lost, back = self.readings("1 ClockInfo.1 1410 !15 1200\n", 3)
        self.assertEqual(self.values(first, "paceline_gpu_sm_clock_hertz"), [1.98e9, 1.41e9])
        for family in ("sm_clock_hertz", "power_watts", "temperature_celsius", "memory_used_bytes"):
            self.assertEqual([p["labels"]["gpu"] for p in lost["families"].get(f"paceline_gpu_{family}", [])], ["0"], family)
        self.assertTrue(any(why.startswith("GPU 1: cuda:1 does not answer any more (GPU is lost)") for why in lost["absent"]), lost["absent"])
        self.assertEqual(self.values(back, "paceline_gpu_sm_clock_hertz"), [1.98e9, 1.2e9])
        self.assertFalse(any("does not answer" in why for why in back["absent"]), back["absent"])

    def test_numbers_that_stand_for_none_are_no_values(self):
        one, = self.readings("* FieldValues.186 4294967295\n* PowerUsage 4294967295\n* UtilizationRates.gpu 4294967295\n* MemoryInfo_v2.used 18446744073709551615\n", 1)
        for family in ("power_watts", "utilization_ratio", "memory_used_bytes"):
            self.assertEqual(self.values(one, f"paceline_gpu_{family}"), [], family)

    def test_all_gpus_are_shown_whatever_this_process_may_compute_on(self):
        self.env["CUDA_VISIBLE_DEVICES"] = "1"
        one, = self.readings("0 ClockInfo.1 1980\n1 ClockInfo.1 1410\n", 1)
        self.assertEqual([(p["labels"]["gpu"], p["labels"]["UUID"], p["value"]) for p in one["families"]["paceline_gpu_sm_clock_hertz"]],
                         [("0", "GPU-aa", 1.98e9), ("1", "GPU-bb", 1.41e9)])

    def test_a_gpu_that_vanishes_leaves_a_reason_and_no_number(self):
        *before, last = self.readings("* ClockInfo.1 1980 1980 !15\n", 5)
        self.assertEqual(len(self.values(before[0], "paceline_gpu_sm_clock_hertz")), 2)
        self.assertEqual(self.values(last, "paceline_gpu_sm_clock_hertz"), [])
        self.assertTrue(any("lost" in reason.lower() for reason in last["absent"]), last["absent"])
        self.assertTrue(self.values(last, "paceline_load1"))


if __name__ == "__main__":
    cli.main()
