#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens rendered report pages in headless Chromium: no console error, every chart in its place, no sideways scrolling.

usage: check_page.py RENDER_SAMPLE_PAGE [PAGE.html …]   (without pages, invented ones are rendered)
exit: 0 ok, 1 a check failed, 77 no chromium
"""
import base64
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

WIDTHS = (1280, 400)

# Runs in the page after its own script: opens every case, sorts and filters, and writes what it finds into the DOM.
PROBE = """
<script>
addEventListener("load", () => {
  const count = (selector, root = document) => root.querySelectorAll(selector).length;
  for (const one of document.querySelectorAll("details.case")) one.open = true;
  setTimeout(() => {
    const heads = document.querySelectorAll("#case-table thead button");
    const first = () => document.querySelector("#case-table tbody tr th").textContent;
    const before = first();
    heads[heads.length - 2].click(); heads[heads.length - 2].click();
    const sorted = first();
    const filter = document.getElementById("filter");
    filter.value = "bf16"; filter.dispatchEvent(new Event("input"));
    const glossary = document.getElementById("glossary"), folded = !glossary.open;
    document.querySelector("a.formula")?.click();
    const report = {
      folded, linked: count("a.formula") > 0,
      charts: [...document.querySelectorAll("svg.plot")].filter((p) => p.getBoundingClientRect().height > 40).length, empty: count("[data-chart]:empty"), packed: count("details[open] > script"), before, sorted,
      filtered: [...document.querySelectorAll("#case-table tbody tr")].filter((row) => !row.hidden).length,
      sideways: document.documentElement.scrollWidth - innerWidth,
      outside: [...document.querySelectorAll(".plots")].filter((p) => p.getBoundingClientRect().right > innerWidth + 1).length,
      tiny: [...document.querySelectorAll("svg.plot text")].filter((t) => t.getBoundingClientRect().height > 0 && parseFloat(getComputedStyle(t).fontSize) * Math.hypot(t.getScreenCTM().a, t.getScreenCTM().b) < 8).length,
      dark: [...document.querySelectorAll("svg.plot text")].filter((t) => getComputedStyle(t).fill === getComputedStyle(document.body).backgroundColor).length,
      overlapping: [...document.querySelectorAll(".plots")].filter((box) => [...box.children].some((a, i) => [...box.children].some((b, j) => {
        const r = a.getBoundingClientRect(), s = b.getBoundingClientRect();
        return i < j && r.left < s.right - 1 && s.left < r.right - 1 && r.top < s.bottom - 1 && s.top < r.bottom - 1;
      }))).length,
      title: document.title, links: count("svg a"), width: innerWidth,
    };
    setTimeout(() => {
      report.unfolded = glossary.open;
      const out = document.createElement("pre");
      out.id = "probe"; out.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(report))));
      document.body.append(out);
    }, 100);
  }, 500);
});
</script>
"""


def find_chromium():
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def open_page(chromium, page, width, folder):
    """The probe's report and the console's messages. An iframe of the wanted width stands for narrow screens."""
    probed = folder / f"probed-{width}.html"
    probed.write_text(page.read_text(encoding="utf-8").replace("</body>", PROBE + "</body>"), encoding="utf-8")
    target = probed
    if width < 500:  # headless windows are at least 500 wide
        target = folder / f"frame-{width}.html"
        target.write_text(
            f'<iframe style="border:0;width:{width}px;height:3000px" src="{probed.name}"></iframe><script>setInterval(() => {{'
            "const p = frames[0].document.getElementById('probe');"
            "if (p && !document.getElementById('probe')) document.body.append(document.importNode(p, true)); }, 100)</script>",
            encoding="utf-8")
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--enable-logging=stderr",
               f"--window-size={max(width, 500)},1400", f"--user-data-dir={folder}/profile-{width}",
               "--virtual-time-budget=20000", "--dump-dom", target.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    found = re.search(r'<pre id="probe">([^<]+)</pre>', done.stdout)
    if not found:
        raise SystemExit(f"{page.name} at {width}: the page did not finish\n" + done.stderr[-2000:])
    return json.loads(base64.b64decode(found.group(1)).decode("utf-8")), console


def check(chromium, page, width, folder, hostile):
    report, console = open_page(chromium, page, width, folder)
    text = page.read_text(encoding="utf-8")
    wrong = [f"console: {line}" for line in console]
    facts = {"charts with all cases open": (report["charts"], text.count('<svg class="plot"')), "empty chart boxes": (report["empty"], 0),
             "words too small to read": (report["tiny"], 0), "words like their ground": (report["dark"], 0), "sideways scrolling": (max(0, report["sideways"]), 0),
             "charts outside the window": (report["outside"], 0), "overlapping charts": (report["overlapping"], 0),
             "details that stay packed": (report["packed"], 0), "the glossary is folded": (report["folded"], True),
             "a link to a formula opens the glossary": (report["unfolded"], report["linked"]), "width": (report["width"], width)}
    if hostile:
        facts["script from a model's name ran"] = (report["title"] == "owned", False)
        facts["links in charts"] = (report["links"], 0)
    elif page.stem != "training":
        rows = re.findall(r"<tr><th scope=\"row\"><a href=\"#case-.*?</tr>", text, re.S)
        facts["rows after filtering"] = (report["filtered"], sum("bf16" in row for row in rows))
        facts["sorting moved a row to the top"] = (report["before"] != report["sorted"], True)
    wrong += [f"{name}: {seen}, expected {wanted}" for name, (seen, wanted) in facts.items() if seen != wanted]
    print(f"{page.name} at {width}: {report['charts']} charts" + ("" if not wrong else "\n  " + "\n  ".join(wrong)))
    return not wrong


def main(arguments):
    chromium = find_chromium()
    if not chromium:
        print("no chromium here: skipped")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pages = [pathlib.Path(a).resolve() for a in arguments[1:]]
        for kind in () if pages else ("one", "two", "training", "hostile"):
            pages.append(folder / f"{kind}.html")
            subprocess.run([arguments[0], "html", str(pages[-1]), kind], check=True)
        results = [check(chromium, page, width, folder, page.stem == "hostile") for page in pages for width in WIDTHS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
