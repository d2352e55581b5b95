"""Run records for the page's tests, as docs/record.md describes them."""

import random

HOSTILE = ["</script><script>window.pwned = 1</script>", "<img src=x onerror=\"window.pwned = 2\">", "<!--<script>", "{{data}} {{script}}",
           "line\u2028separator\u2029here", "\u202egnisaelp", "'\"`&amp;&lt;", "\U0001f600\u0301 \u05d0\u05d1\u05d2 \u0627\u0644", "a" * 300, "\x00\x1b[31m",
           "__proto__", "constructor", "a=b&c=d#e%20", "\\u003c\\", "</title></style></noscript>"]


def check(name, verdict="pass", subject=None, metric="close", value=0.25, bound=None, **more):
    bound = {"rtol": 0.016, "atol": 1e-05} if bound is None else bound
    return {"name": name, "subject": subject, "metric": metric, "level": "require", "verdict": verdict, "on_vacuous": "fail",
            "value": value, "bound": bound, "bound_source": "default", "compared": 1000, "mismatched": 0 if verdict == "pass" else 7,
            "ladder": "close" if verdict == "pass" else "far", "message": None, "expected": "the reference",
            "statistics": {"max_abs": 0.5}, "worst": {"index": [0, 3], "expected": 1.0, "actual": 1.5}, **more}


def step(name, checks=(), status="pass", inputs=None, **more):
    return {"id": name, "uses": f"toy.{name}", "plugin": {"file": f"/plugins/toy.{name}.so", "build_id": "00ff"}, "location": None, "scored": True,
            "status": status, "reason": None, "help": None, "summary": None, "seconds": 0.01, "peak_rss_bytes": 1 << 27,
            "parameters": {}, "inputs": inputs or {}, "outputs": {}, "checks": list(checks), **more}


def record(steps, verdict="pass", exit_code=0, **more):
    return {"schema": 1, "tool": {"name": "lockstep", "version": "0.1.0"},
            "pipeline": {"name": "toy", "file": "toy.toml", "sha256": "0" * 64, "overrides": ["--set x=1"]},
            "environment": {"cpu": "some cpu", "threads": 2, "seed": 0, "dtype": "bfloat16"}, "verdict": verdict, "exit_code": exit_code,
            "message": None, "baseline": None, "seconds": 1.5, "peak_rss_bytes": 1 << 28, "diagnostics": [], "steps": list(steps), **more}


def failing():
    """Layers with growing errors, one of each verdict, numbers that JSON lacks, steps of every status."""
    layers = [check("layer_output", "fail" if i > 5 else "pass", f"layer {i}", "norm_wise", 10.0 ** (i - 8), {"k": 1e-2}) for i in range(12)]
    cosine = [check("direction", subject=f"layer {i}", metric="cosine", value=1 - 1e-6 * (i + 1), bound={"min": 0.99}) for i in range(12)]
    odd = [check("nothing", "vacuous", value=None, compared=0, ladder=None, message="nothing was compared", worst=None),
           check("broken", "fail", value="inf", ladder="non_finite", worst={"index": [1], "expected": "nan", "actual": "-inf"}),
           check("undefined", "fail", value="nan", metric="peir", bound={"max": 0.02}),
           check("told", "warn", value=0.031, metric="peir", bound={"max": 0.02}, level="inform", bound_source="toy.toml:9:1"),
           check("shape", "fail", metric="equal", value=None, bound={}, ladder=None, message="expected [1, 2], found [1, 3]", worst=None)]
    steps = [step("source", status="done", seconds=0.5),
             step("model", layers + cosine, "fail", {"x": "source.tensor"}),
             step("odd", odd, "fail", {"x": "source.tensor", "y": "model.out"}),
             step("broken_step", [check("never", None, value=None, ladder=None, worst=None)], "error", {"y": "odd.out"}, reason="cannot open it\nat all", help="look"),
             step("reader", [], "skipped", {"z": "broken_step.out"}, reason="broken_step ended in an error"),
             step("aside", [check("matches")], scored=False, inputs={"x": "source.tensor"})]
    baseline = {"file": "base.toml", "sha256": "1" * 64, "compared": 31, "notes": ["taken on another machine"], "better": [], "update": None,
                "worse": [{"step": "model", "check": "direction", "subject": "layer 4", "message": "cosine 0.9, was 0.99, at least 0.95"}],
                "unknown": [{"step": "aside", "check": "matches", "subject": None, "message": ""}]}
    return record(steps, "error", 4, baseline=baseline)


def row(number, verdict="pass", exit_code=0, message=None, **more):
    return {"name": f"n={number}", "values": {"n": number}, "verdict": verdict, "exit_code": exit_code, "message": message, "seconds": 0.25 * (number + 1),
            "peak_rss_bytes": 1 << 28, "record": f"out.n={number}.json", "steps": {"pass": 2}, "checks": {"pass": 30 + number}, **more}


def summary(count=150):
    """The summary of a matrix, among whose passing rows one failed, one crashed and one has texts that look like markup."""
    rows = [row(i) for i in range(count)]
    rows[70] = row(70, "fail", 1, "compare same_bits: 1 of 3 differ", checks={"pass": 1200, "fail": 1, "vacuous": 2})
    rows[90] = row(90, "crashed", 5, "the row's process was ended by signal 11 (SIGSEGV)", record=None, checks={}, steps={})
    rows[110] = row(110, "error", 4, HOSTILE[0], name=HOSTILE[1], values={"n": HOSTILE[0]}, record=HOSTILE[1])
    return record([], "crashed", 5, matrix={"rows": [r["name"] for r in rows]}, rows=rows)


def hostile():
    """Every text of a record holds something that could be taken for markup, script or layout."""
    steps = []
    for i, text in enumerate(HOSTILE):
        worst = {"index": [1], "expected": text, "actual": [text, {"a": text}]}
        checks = [check(text, "fail", text, message=text, expected=text, bound_source=text, worst=worst, statistics={text: 1.0}),
                  check(text, "pass", f"{text} 3"), check(text, "pass", f"{text} 4")]
        inputs = {text: f"{steps[-1]['id']}.{text}"} if steps else {}
        steps.append(step(text, checks, "fail", inputs, uses=text, reason=text, help=text, summary=text, parameters={text: text, "list": [text]},
                          plugin={"file": text, "build_id": text}, outputs={text: {"type": text, "dtype": "bfloat16", "shape": [1]}}))
    diagnostics = [{"severity": "warning", "code": "P001", "message": text, "file": text, "line": 1, "column": 1, "did_you_mean": text,
                    "help": text, "notes": [{"message": text, "file": text, "line": 1, "column": 1}]} for text in HOSTILE]
    result = record(steps, "fail", 1, message="\n".join(HOSTILE), diagnostics=diagnostics, environment={text: text for text in HOSTILE})
    finding = [{"step": text, "check": text, "subject": text, "message": text} for text in HOSTILE]
    result["baseline"] = {"file": HOSTILE[0], "sha256": "", "compared": 1, "notes": HOSTILE, "worse": finding, "better": finding, "unknown": finding, "update": HOSTILE[0]}
    result["pipeline"].update(name=HOSTILE[0], file=HOSTILE[1], overrides=HOSTILE)
    return result


def large(count=10000, steps=100):
    """Many checks in many steps that read one another."""
    numbers = random.Random(5)
    made = []
    for s in range(steps):
        checks = []
        for i in range(count // steps):
            wrong = numbers.random() < 0.01
            value = 10 ** (numbers.uniform(0, 2) if wrong else numbers.uniform(-6, 0))
            checks.append(check(f"check_{i % 4}", "fail" if value > 1 else "pass", f"layer {i // 4}", value=value))
        inputs = {f"in_{k}": f"step_{numbers.randrange(s)}.out" for k in range(min(s, 3))}
        failed = any(c["verdict"] == "fail" for c in checks)
        made.append(step(f"step_{s}", checks, "fail" if failed else "pass", inputs, seconds=numbers.random()))
    return record(made, "fail", 1)
