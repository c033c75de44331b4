#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cost of a report of very many cases: seconds and size of each form, and seconds until a browser has opened and scrolled through the page.

usage: tools/report_scale.py [--cases 1000] [--rounds 5] [--chromium chromium] [--folder DIR]

Two cases on the spin plug-in of the tests are measured once (6 processes of 60 samples) and their results are copied under other names.
"""
import argparse
import copy
import http.server
import json
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLAN = """kind: inference
models: [x.spin]
engines: [spin]
shapes: "input:{{batch}}x4"
batch_sizes: [1, 2]
repetitions: 6
iterations: 60
idle_wait_s: 0
measure_peak: false
allow_noisy: true
plugin: ["{}"]
"""
# The page reports to a server of this program when it was complete, and when a reader had seen its quarters, its end and its beginning again.
PROBE = """<script>addEventListener("load", () => requestAnimationFrame(() => {
  const opened = performance.now();
  const stops = [0.25, 0.5, 0.75, 1, 0];
  const step = () => {
    if (stops.length === 0) location.href = `http://127.0.0.1:%d/?opened=${opened}&scrolled=${performance.now()}`;
    else { scrollTo(0, stops.shift() * document.documentElement.scrollHeight); requestAnimationFrame(() => requestAnimationFrame(step)); }
  };
  step();
}));</script>"""


def measured(paceline, folder):
    spin = pathlib.Path(paceline).resolve().parent.parent / "tests/libpaceline_spin.so"
    (folder / "x.spin").touch()
    (folder / "plan.yaml").write_text(PLAN.format(spin))
    subprocess.run([paceline, "run", "plan.yaml", "--output-dir", "measured"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return next((folder / "measured").glob("**/run_summary.json")).parent


def copied(run, count, target):
    """A run of `count` cases: those of `run` in turn, each with separate files."""
    summary = json.loads((run / "run_summary.json").read_text())
    shutil.copytree(run, target, ignore=shutil.ignore_patterns("cases"))
    originals, cases = summary["cases"], []
    for number in range(count):
        one = copy.deepcopy(originals[number % len(originals)])
        source = run / "cases" / one["case_id"]
        one["case_id"] = one["benchmark"]["id"] = f"{one['case_id']}-{number}"
        one["label"] = f"{one['label']} {number}"
        folder = target / "cases" / one["case_id"]
        shutil.copytree(source, folder)
        (folder / "result.json").write_text(json.dumps(one))
        cases.append(one)
    (target / "run_summary.json").write_text(json.dumps({**summary, "cases": cases}))
    return target


def seconds(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


class Told(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.told = {key: float(value[0]) / 1e3 for key, value in urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query).items()}
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def in_browser(chromium, page):
    """Seconds from the start of loading until the page was complete, and until all of it had been scrolled through."""
    with http.server.HTTPServer(("127.0.0.1", 0), Told) as server, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        server.timeout, server.told = 60, {}
        probed = page.with_suffix(".probed.html")
        probed.write_text(page.read_text().replace("</body>", PROBE % server.server_port + "</body>"))
        browser = subprocess.Popen([chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--window-size=1280,900",
                                    "--remote-debugging-port=0", probed.as_uri()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while "scrolled" not in server.told:
                server.told = {}
                server.handle_request()
                if not server.told:
                    raise SystemExit("the browser did not show the page within 60 s")
        finally:
            browser.kill()
            browser.wait()
        return server.told


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--paceline", default=str(ROOT / "build/release/bin/paceline"))
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("google-chrome"))
    parser.add_argument("--folder", help="where the files are kept; unset: nowhere")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(args.folder or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        many = copied(measured(args.paceline, folder), args.cases, folder / "many")
        for form in ("html", "markdown", "csv", "json"):
            file = folder / f"report.{form}"
            times = [seconds([args.paceline, "report", many, "--format", form, "--output", file]) for _ in range(args.rounds)]
            print(f"{form:9} {statistics.median(times):6.2f} s (least {min(times):.2f})  {file.stat().st_size / 1e6:6.1f} MB")
        if args.chromium:
            told = [in_browser(args.chromium, folder / "report.html") for _ in range(args.rounds)]
            for what in ("opened", "scrolled"):
                times = [one[what] for one in told]
                print(f"{what:9} {statistics.median(times):6.2f} s (least {min(times):.2f})")


if __name__ == "__main__":
    main()
