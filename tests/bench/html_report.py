#!/usr/bin/env python3
"""Measure the HTML report of a large record in headless Chromium and print a Markdown table.

    tests/bench/html_report.py --lockstep build/bin/lockstep --chromium /usr/bin/chromium [--checks 10000] [--runs 7]

Loading is from the start of the navigation to the end of the first frame with everything drawn; the others are from the
event to the end of the frame that shows its effect. Least and median of several runs.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/html"))
import records  # noqa: E402
from chromium import Browser, Page  # noqa: E402

FRAME = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"
ACTIONS = {
    "load": None,
    "a letter in the search": """(() => { const field = document.getElementById('filter-q'); field.value = 'check_1 layer 2';
        field.dispatchEvent(new Event('input')); })()""",
    "filter by verdict": "document.querySelector('[data-verdict=fail]').click()",
    "clear the filters": "document.querySelector('.clear').click()",
    "sort by value": "document.querySelector('th[data-sort=value] button').click()",
    "open a check's details": "document.querySelector('tr.check .expander').click()",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lockstep", required=True)
    parser.add_argument("--chromium", required=True)
    parser.add_argument("--checks", type=int, default=10000)
    parser.add_argument("--runs", type=int, default=7)
    args = parser.parse_args()
    took = {name: [] for name in ["write the page", *ACTIONS]}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "record.json", Path(folder) / "record.html"
        source.write_text(json.dumps(records.large(args.checks)), encoding="utf-8")
        browser = Browser(args.chromium)
        for _ in range(args.runs):
            start = time.perf_counter()
            subprocess.run([args.lockstep, "report", source, "--html", target], check=True)
            took["write the page"].append(1000 * (time.perf_counter() - start))
            page = Page(browser)
            page.open(target.as_uri())
            took["load"].append(page.evaluate("performance.getEntriesByName('drawn')[0].startTime"))
            for name, action in ACTIONS.items():
                if action:
                    took[name].append(page.evaluate(f"(async () => {{ const start = performance.now(); {action}; return (await {FRAME}) - start; }})()"))
            page.close()
        browser.close()
        print(f"{args.checks} checks, a page of {target.stat().st_size / 1e6:.1f} MB\n\n| what | ms, least / median |\n|---|---|")
    for name, values in took.items():
        print(f"| {name} | {min(values):.0f} / {statistics.median(values):.0f} |")


if __name__ == "__main__":
    main()
