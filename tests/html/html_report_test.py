#!/usr/bin/env python3
"""The HTML report in a real browser.

    python3 tests/html/html_report_test.py --lockstep build/bin/lockstep --chromium /usr/bin/chromium [--screenshots FOLDER] [CASE…]

Records are written by records.py, made into pages by `lockstep report` and opened in headless Chromium. What a page must
show is computed here from the record.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import records  # noqa: E402
from chromium import Browser, Page  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
CONTRAST = """(() => {
  const rgba = (text) => { const n = text.match(/[\\d.]+/g).map(Number); return n.length === 3 ? [...n, 1] : n; };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
  const behind = (node) => {
    const colours = [];
    for (let at = node; at instanceof Element; at = at.parentElement) colours.push(rgba(getComputedStyle(at).backgroundColor));
    return colours.reverse().reduce((below, above) => over(above, below), [255, 255, 255, 1]);
  };
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const poor = new Map();
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim());
    const style = getComputedStyle(node);
    if (!own || !node.checkVisibility() || node.closest(":disabled, .sr, script, noscript, .strip, .skip-link, title")) continue;
    const back = behind(node instanceof SVGElement ? node.closest("div") : node);
    const text = over(rgba(node instanceof SVGElement ? style.fill : style.color), back);
    const [a, b] = [light(text), light(back)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) poor.set(`${node.tagName}.${node.getAttribute("class")}`, `${ratio.toFixed(2)} ${text} on ${back}`);
  }
  return [...poor].map(String);
})()"""
args = None


def page_url(record, name, previous=None):
    """The page that the program makes of a record, perhaps against a previous one."""
    source = args.folder / f"{name}.json"
    page = args.folder / f"{name}.html"
    if not page.exists():
        source.write_text(json.dumps(record), encoding="utf-8")
        against = []
        if previous:
            against = ["--against", args.folder / f"{name}-previous.json"]
            against[1].write_text(json.dumps(previous), encoding="utf-8")
        subprocess.run([args.lockstep, "report", source, "--html", page, *against], check=True)
    return page.as_uri()


def url_of(name):
    made = {"failing": records.failing, "hostile": records.hostile, "large": records.large, "summary": records.summary,
            "passing": lambda: records.record([records.step("source", status="done"), records.step("one", [records.check("same")], inputs={"x": "source.x"})]),
            "invalid": lambda: records.record([], "invalid", 2, message="nothing ran", diagnostics=[
                {"severity": "error", "code": "P001", "message": "unknown key 'stepp'", "file": "toy.toml", "line": 3, "column": 1,
                 "did_you_mean": "step", "help": None, "notes": []}]),
            "incomplete": lambda: records.record([records.step("one", [records.check("same")]), records.step("two", status=None)], "incomplete", 5),
            "golden": lambda: json.loads((ROOT / "tests/cli/golden/record.json").read_text(encoding="utf-8"))}
    if name == "moved":
        before, after = records.failing(), records.failing()
        after["steps"][1]["checks"][6].update(verdict="pass", value=0.005, bound={"k": 0.02})
        after["environment"]["threads"] = 4
        return page_url(after, name, before)
    return page_url(made[name](), name)


ALL = ("summary", "passing", "failing", "hostile", "large", "invalid", "incomplete", "golden")


class HtmlReport(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(args.chromium)
        cls.addClassCleanup(cls.browser.close)

    def open(self, name, fragment="", **options):
        page = Page(self.browser, **options)
        page.open(url_of(name) + fragment)
        self.addCleanup(self.close, page)
        return page

    def close(self, page):
        page.take_events()
        page.close()
        self.assertEqual([], page.problems)
        self.assertEqual([], page.requests)

    def verdicts_shown(self, page):
        return Counter(page.evaluate("[...document.querySelectorAll('tr.check')].map((row) => row.className.match(/is-(\\w+)/)[1])"))

    def test_a_page_of_any_record_asks_for_nothing_and_has_no_error(self):
        for name in ALL:
            for scheme, width in (("light", 1280), ("dark", 375)):
                with self.subTest(record=name, scheme=scheme):
                    page = self.open(name, scheme=scheme, width=width)
                    self.assertTrue(page.text("h1").strip())
                    if args.screenshots:
                        page.screenshot(args.screenshots / f"{name}-{scheme}.png")

    def test_the_top_says_the_verdict_and_counts_what_the_record_holds(self):
        record = records.failing()
        page = self.open("failing")
        self.assertEqual("Error", page.text(".verdict").strip())
        found = Counter({word: int(count) for count, word in (text.split(" ", 1) for text in page.texts(".tile:nth-child(2) .count"))})
        expected = Counter(c["verdict"] or "without verdict" for s in record["steps"] for c in s["checks"])
        self.assertEqual(expected, found)

    def test_a_verdict_filter_by_mouse_shows_those_rows_only(self):
        record = records.failing()
        page = self.open("failing")
        failed = sum(c["verdict"] == "fail" for s in record["steps"] for c in s["checks"])
        page.click("[data-verdict=fail]")
        self.assertEqual(Counter(fail=failed), self.verdicts_shown(page))
        self.assertEqual("true", page.evaluate("document.querySelector('[data-verdict=fail]').getAttribute('aria-pressed')"))
        page.click("[data-verdict=warn]")
        self.assertEqual(Counter(fail=failed, warn=1), self.verdicts_shown(page))
        page.click(".clear")
        self.assertEqual(sum(len(s["checks"]) for s in record["steps"]), sum(self.verdicts_shown(page).values()))

    def test_search_sort_and_details_work_by_keyboard_alone(self):
        page = self.open("failing")
        page.press("Tab")
        self.assertEqual("Skip to the checks", page.evaluate("document.activeElement.textContent"))
        page.press("Enter")
        page.press("Tab")
        self.assertEqual("filter-q", page.evaluate("document.activeElement.id"))
        page.type("layer_output")
        self.assertEqual("12 of 31 checks", page.text(".status"))
        self.tab_to(page, "th[data-sort=value] button")
        page.press("Enter")
        page.settle()
        self.assertEqual("descending", page.evaluate("document.querySelector('th[data-sort=value]').getAttribute('aria-sort')"))
        self.assertEqual([f"layer {i}" for i in range(11, -1, -1)], page.texts("tr.check td:nth-child(4)"))
        page.press("Enter")
        page.settle()
        self.assertEqual([f"layer {i}" for i in range(12)], page.texts("tr.check td:nth-child(4)"))
        self.tab_to(page, "tr.check .expander")
        page.press("Enter")
        page.settle()
        self.assertIn("the reference", page.text("tr.details"))
        self.assertEqual("true", page.evaluate("document.activeElement.getAttribute('aria-expanded')"))
        page.press("Enter")
        page.settle()
        self.assertEqual([], page.texts("tr.details"))

    def tab_to(self, page, selector, most=200):
        for _ in range(most):
            page.press("Tab")
            if page.evaluate(f"document.activeElement.matches({json.dumps(selector)})"):
                return
        self.fail(f"{selector} was not reached with {most} presses of Tab")

    def test_tab_reaches_every_control_and_leaves_the_page_again(self):
        page = self.open("failing")
        controls = page.evaluate("""[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
            .filter((node) => node.checkVisibility() && !node.disabled).map((node, i) => { node.dataset.probe = i; return i; })""")
        reached = set()
        for _ in range(len(controls) + 5):
            page.press("Tab")
            probe = page.evaluate("document.activeElement.dataset.probe ?? null")
            if probe is None and reached:
                break
            reached.add(int(probe))
        self.assertIsNone(probe)
        self.assertEqual(set(controls), reached)

    def test_details_show_the_worst_element_and_where_the_bound_was_set(self):
        page = self.open("failing", "#q=told")
        page.click("tr.check .expander")
        text = page.text("tr.details")
        for part in ("toy.toml:9:1", "max 0.02", "[0, 3]", "1.5", "max_abs"):
            self.assertIn(part, text)

    def test_the_address_keeps_the_filters(self):
        page = self.open("large")
        page.click("[data-verdict=fail]")
        page.click("th[data-sort=share] button")
        page.click(".pages button:last-child")
        page.click("tr.check .expander")
        rows, details = page.texts("tr.check"), page.text("tr.details")
        again = self.open("large", page.evaluate("location.hash"))
        self.assertEqual(rows, again.texts("tr.check"))
        self.assertEqual(details, again.text("tr.details"))
        self.assertEqual("Page 2 of 2", again.text(".pages span"))

    def test_ten_thousand_checks_are_all_reachable_and_few_are_in_the_page(self):
        record = records.large()
        page = self.open("large")
        self.assertEqual("10,000 checks", page.text(".status"))
        self.assertEqual(50, len(page.texts("tr.check")))
        self.assertLess(page.evaluate("document.querySelectorAll('*').length"), 20000)
        values = sorted((c["value"] for s in record["steps"] for c in s["checks"] if c["verdict"] == "fail"), reverse=True)
        page.click("[data-verdict=fail]")
        page.click("th[data-sort=value] button")
        self.assertEqual(f"{len(values)} of 10,000 checks", page.text(".status"))
        shown = [float(text.replace(",", "")) for text in page.texts("tr.check td:nth-child(6)")]
        self.assertEqual([float(f"{value:.3g}") for value in values[:len(shown)]], shown)

    def test_every_text_has_enough_contrast(self):
        for name in ("failing", "passing", "invalid", "golden", "summary"):
            for scheme in ("light", "dark"):
                with self.subTest(record=name, scheme=scheme):
                    page = self.open(name, "#sort=verdict&open=odd/told/", scheme=scheme)
                    self.assertEqual([], page.evaluate(CONTRAST))

    def test_light_and_dark_differ(self):
        backgrounds = {self.open("failing", scheme=scheme).evaluate("getComputedStyle(document.body).backgroundColor") for scheme in ("light", "dark")}
        self.assertEqual(2, len(backgrounds))

    def test_a_narrow_screen_does_not_scroll_sideways(self):
        for name in ALL:
            for width in (320, 375, 768, 1280):
                with self.subTest(record=name, width=width):
                    page = self.open(name, width=width, height=700)
                    self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)

    def test_what_a_record_says_is_never_run_nor_taken_for_markup(self):
        page = self.open("hostile", "#open=" + "a" * 10)
        page.click("tr.check .expander")
        page.evaluate("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
        page.settle()
        self.assertEqual("undefined", page.evaluate("typeof window.pwned"))
        self.assertEqual([2, 0], page.evaluate("[document.scripts.length, document.images.length]"))
        for text in (records.HOSTILE[0], records.HOSTILE[1], "{{data}} {{script}}", "\\u{202e}gnisaelp"):
            self.assertIn(text, page.evaluate("document.getElementById('pipeline').textContent"))
        self.assertEqual(json.loads(json.dumps(records.hostile()))["steps"][4]["id"],
                         page.evaluate("JSON.parse(document.getElementById('data').textContent).record.steps[4].id"))

    def test_choosing_a_step_in_the_graph_filters_the_table(self):
        page = self.open("failing")
        self.assertEqual(4, len(page.evaluate("[...document.querySelectorAll('.wires > g')].map((wire) => wire.dataset.wire)")))
        page.click(".graph-steps li:nth-child(3) button")
        self.assertEqual({"odd"}, set(page.texts("tr.check td:nth-child(2)")))
        self.assertEqual("odd", page.evaluate("document.getElementById('filter-step').value"))
        page.click(".graph-steps li:nth-child(3) button")
        self.assertGreater(len(set(page.texts("tr.check td:nth-child(2)"))), 1)

    def test_wires_end_at_the_boxes_of_their_readers(self):
        page = self.open("failing")
        tips = page.evaluate("""[...document.querySelectorAll('[data-reader]')].map((branch) => {
            const tip = branch.querySelector('.tip').getBoundingClientRect();
            const box = document.querySelectorAll('.step')[branch.dataset.reader].getBoundingClientRect();
            return tip.y > box.y && tip.bottom < box.bottom && Math.abs(tip.right - box.x) < 4;
        })""")
        self.assertEqual([True] * 6, tips)

    def test_a_plot_has_a_point_per_layer_in_the_order_of_its_values(self):
        page = self.open("failing")
        heights = page.evaluate("""[...document.querySelector('.panel').querySelectorAll('.point > :first-child')]
            .map((mark) => mark.getBoundingClientRect()).map((box) => box.y + box.height / 2)""")
        self.assertEqual(12, len(heights))
        self.assertEqual(sorted(heights, reverse=True), heights)
        gaps = [a - b for a, b in zip(heights, heights[1:])]
        self.assertLess(max(gaps) - min(gaps), 1, "powers of ten are evenly spaced on a logarithmic axis")
        page.click(".panel .point:nth-last-child(1)")
        self.assertIn("layer_output", page.text("tr.check.open"))
        self.assertIn("layer 11", page.text("tr.check.open"))

    def test_the_ladder_counts_the_levels_of_each_tensor(self):
        page = self.open("failing")
        rows = page.evaluate("""[...document.querySelectorAll('.heatmap tbody tr')].map((row) => [row.querySelector('th').textContent,
            ...[...row.querySelectorAll('.heat')].map((cell) => cell.textContent)])""")
        self.assertIn(["model › layer_output", "6", "6", ""], rows)
        self.assertIn(["odd › broken", "", "", "1"], rows)

    def test_worst_elements_come_failures_first(self):
        page = self.open("failing")
        self.assertIn("odd › broken", page.text("#worst tbody tr:first-child"))
        self.assertIn("-inf", page.text("#worst tbody tr:first-child"))

    def test_what_is_worse_than_the_baseline_is_told_first_and_in_full(self):
        page = self.open("failing")
        self.assertIn("model › direction layer 4\ncosine 0.9, was 0.99, at least 0.95", page.text("#attention").replace("\n\n", "\n"))
        for part in ("base.toml", "taken on another machine", "Worse (1)", "Not in the baseline (1)", "aside › matches"):
            self.assertIn(part, page.text("#baseline"))
        self.assertTrue(self.open("passing").evaluate("document.getElementById('baseline').hidden"))

    def test_the_difference_shows_what_moved_and_nothing_else(self):
        page = self.open("moved")
        rows = page.evaluate("[...document.querySelectorAll('#difference tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
        self.assertIn(["model › layer_output layer 6", "verdict", "fail", "pass", ""], rows)
        self.assertIn(["model › layer_output layer 6", "value", "0.01", "0.005", "0.5×"], rows)
        self.assertIn(["model › layer_output layer 6", "bound.k", "0.01", "0.02", ""], rows)
        self.assertTrue(any("threads" in row[1] and row[2:4] == ["2", "4"] for row in rows), rows)
        self.assertEqual(4, len(rows))
        page.click("#difference tbody button")
        self.assertIn("layer 6", page.text("tr.check.open"))
        self.assertTrue(self.open("failing").evaluate("document.getElementById('difference').hidden"))

    def test_a_summary_tells_of_each_row_verdict_counts_first_problem_and_record(self):
        record = records.summary()
        page = self.open("summary")
        wrong = [row for row in record["rows"] if row["verdict"] != "pass"]
        self.assertEqual({"pass": len(record["rows"]) - 3, "fail": 1, "error": 1, "crashed": 1},
                         {word: int(count) for count, word in (text.split(" ", 1) for text in page.texts(".tile:nth-child(1) .count"))})
        cells = "[...document.querySelectorAll('#rows tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"
        shown = page.evaluate(cells)
        self.assertEqual(100, len(shown))
        self.assertEqual(["fail", "n=70", "70", "1 fail2 vacuous1,200 pass", "compare same_bits: 1 of 3 differ", "1", "17.75 s", "256 MiB", "out.n=70.json"],
                         shown[0])
        self.assertEqual([[row["verdict"], row["name"], row["message"], row["record"] or ""] for row in wrong],
                         [[cell[0], cell[1], cell[4], cell[8]] for cell in shown[:3]])
        page.click("#rows .more")
        self.assertEqual([row["name"] for row in wrong] + [row["name"] for row in record["rows"] if row["verdict"] == "pass"],
                         [cell[1] for cell in page.evaluate(cells)])
        self.assertEqual("undefined", page.evaluate("typeof window.pwned"))
        self.assertTrue(self.open("passing").evaluate("document.getElementById('rows').hidden"))

    def test_the_first_link_leads_to_what_the_page_has(self):
        for name, target in (("failing", "checks"), ("summary", "rows"), ("invalid", "diagnostics")):
            with self.subTest(record=name):
                page = self.open(name)
                page.press("Tab")
                page.press("Enter")
                self.assertEqual(target, page.evaluate("document.activeElement.id"))
                self.assertTrue(page.evaluate("document.activeElement.checkVisibility()"))

    def test_controls_have_names_and_the_page_has_landmarks(self):
        page = self.open("failing")
        page.call("Accessibility.enable")
        nodes = page.call("Accessibility.getFullAXTree")["nodes"]
        roles = Counter(node["role"]["value"] for node in nodes if not node["ignored"])
        for role in ("main", "banner", "navigation", "search", "contentinfo"):
            self.assertEqual(1, roles[role], role)
        unnamed = [node for node in nodes if not node["ignored"] and node["role"]["value"] in ("button", "link", "combobox", "searchbox", "table", "image", "region")
                   and not node.get("name", {}).get("value")]
        self.assertEqual([], [node["role"]["value"] for node in unnamed])
        self.assertEqual(1, len(page.texts("h1")))

    def test_without_javascript_the_verdict_and_the_failures_are_told(self):
        page = self.open("failing", script=False)
        text = page.call("DOM.getDocument", depth=-1) and page.call("DOM.getOuterHTML", nodeId=page.call("DOM.getDocument")["root"]["nodeId"])["outerHTML"]
        text = text[text.index("<noscript>"):text.index("</noscript>")]
        for part in ("toy: error", "broken_step", "cannot open it", "model layer_output layer 6", "nothing was compared"):
            self.assertIn(part, text)
        self.assertNotIn("layer_output layer 5", text)


def main():
    global args
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lockstep", required=True, type=Path)
    parser.add_argument("--chromium", required=True)
    parser.add_argument("--screenshots", type=Path, help="a folder for pictures of the pages")
    parser.add_argument("cases", nargs="*")
    args = parser.parse_args()
    if args.screenshots:
        args.screenshots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        args.folder = Path(folder)
        unittest.main(argv=[sys.argv[0], *args.cases])


if __name__ == "__main__":
    main()
