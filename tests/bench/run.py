#!/usr/bin/env python3
"""Measure Lockstep beside what it is compared with, all in one run, and print a Markdown table.

    tests/bench/run.py --python PYTHON [--checkpoint FOLDER] [--build build] [--runs 7]

PYTHON has torch and transformers. FOLDER is a large checkpoint: tools/make_e2b_random.py FOLDER writes one of 10 GB.
Times are the least and the median of several runs; the sides of a comparison take turns, so that a slow minute of the
machine hits both. On a machine that is never quiet, --cpu measures processor time. Memory is the peak resident set.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MIB = 1 << 20


class Side:
    """A command and what its runs cost."""

    cpu = False  # processor time instead of time on the clock

    def __init__(self, name, *command):
        self.name, self.command = name, [str(c) for c in command]
        self.seconds, self.peaks, self.outputs = [], [], []

    def run(self):
        start = time.perf_counter()
        process = subprocess.Popen(self.command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        output = process.stdout.read()
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        elapsed = time.perf_counter() - start
        self.seconds.append(usage.ru_utime + usage.ru_stime if Side.cpu else elapsed)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"run.py: {' '.join(self.command)} ended with {process.returncode}:\n{(errors or output).decode()}")
        self.peaks.append(usage.ru_maxrss * 1024)
        self.outputs.append(output.decode())

    def json(self):
        return [json.loads(output) for output in self.outputs]


def take_turns(runs, *sides):
    for _ in range(runs):
        for side in sides:
            side.run()


def span(values, unit=1e3, digits=1):
    return f"{min(values) * unit:.{digits}f} / {statistics.median(values) * unit:.{digits}f}"


def row(what, ours, theirs, goal, found, reached):
    return f"| {what} | {ours} | {theirs} | {goal} | {found} | {'yes' if reached else '**no**'} |"


def skipped(what, goal, why):
    return f"| {what} | | | {goal} | not measured: {why} | |"


def help_time(a):
    ours = Side("lockstep --help", a.lockstep, "--help")
    theirs = Side("python -c pass", a.python, "-c", "pass")
    take_turns(3 * a.runs, ours, theirs)
    best = statistics.median(ours.seconds)
    yield row("`lockstep --help`, ms; beside it `python -c pass`", span(ours.seconds), span(theirs.seconds), "< 10 ms",
              f"{best * 1e3:.1f} ms", best < 0.010)


def validate_time(a):
    goal = "<= 1.5 x"
    bare = a.build / "bin/bench_only_libtorch"
    if not bare.exists():
        yield skipped("`lockstep validate`", goal, f"{bare} is not built (LOCKSTEP_TORCH)")
        return
    ours = Side("lockstep validate", a.lockstep, "validate", a.pipeline)
    theirs = Side("LibTorch alone", bare)
    take_turns(a.runs, ours, theirs)
    ratio = statistics.median(ours.seconds) / statistics.median(theirs.seconds)
    yield row("`lockstep validate`, ms; beside it a program that only links LibTorch", span(ours.seconds),
              span(theirs.seconds), goal, f"{ratio:.2f} x", ratio <= 1.5)


def default_run(a):
    variables = tomllib.loads(a.pipeline.read_text())["vars"]
    checkpoint, image = (a.pipeline.parent / variables[name] for name in ("checkpoint", "image"))
    for stages, arguments in ((4, ["--to", "mm_fusion"]), (8, [])):
        what = "the default run" if stages == 8 else "its first four stages"
        ours = Side("lockstep run", a.lockstep, "run", a.pipeline, *arguments)
        theirs = Side("transformers", a.python, "tests/bench/hf_stages.py", checkpoint, variables["prompt"], image, stages)
        take_turns(a.runs, ours, theirs)
        factor = statistics.median(theirs.seconds) / statistics.median(ours.seconds)
        memory = statistics.median(ours.peaks) / statistics.median(theirs.peaks)
        yield row(f"{what}, s; beside it the same stages with transformers, once", span(ours.seconds, 1, 2),
                  span(theirs.seconds, 1, 2), ">= 10 x faster", f"{factor:.1f} x", factor >= 10)
        yield row("peak memory, MiB", span(ours.peaks, 1 / MIB, 0), span(theirs.peaks, 1 / MIB, 0), "<= half",
                  f"{memory:.2f}", memory <= 0.5)


def check_kernel(a):
    what, goal = "close, max and counts on 1e8 bfloat16", ">= 5 x faster"
    program = a.build / "bin/check_bench"
    if not program.exists():
        yield skipped(what, goal, f"{program} is not built")
        return
    elements = 100_000_000
    ours = Side("check_bench", program, "--json", elements, a.runs)
    theirs = Side("torch.testing.assert_close", a.python, "tests/bench/torch_assert_close.py", elements, a.runs)
    take_turns(1, ours, theirs)
    mine, other = ours.json()[0], theirs.json()[0]
    factor = statistics.median(other["seconds"]) / statistics.median(mine["seconds"])
    yield row(f"{what}, ms; beside it `torch.testing.assert_close`", span(mine["seconds"]), span(other["seconds"]), goal,
              f"{factor:.1f} x", factor >= 5)
    speed = [2 * 2 * elements / s / 1e9 for s in mine["seconds"]]
    memory = [2 * 2 * elements / s / 1e9 for s in mine["read_seconds"]]
    share = statistics.median(speed) / statistics.median(memory)
    yield row("the same, GB/s; beside it only reading the bytes", span(speed, 1), span(memory, 1), ">= half",
              f"{share:.2f}", share >= 0.5)


def process_image(a):
    goal = "not slower"
    checkpoint = a.pipeline.parent / tomllib.loads(a.pipeline.read_text())["vars"]["checkpoint"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([a.python, "tests/bench/hf_process_image.py", "--draw", folder], cwd=ROOT, check=True)
        for name in ("picture.png", "picture.jpg"):
            picture = Path(folder) / name
            ours = Side("bench_process_image", a.build / "bin/bench_process_image", picture, 5)
            theirs = Side("transformers", a.python, "tests/bench/hf_process_image.py", checkpoint, picture, 5)
            take_turns(a.runs, ours, theirs)
            mine, other = ([s for run in side.json() for s in run["seconds"]] for side in (ours, theirs))
            ratio = statistics.median(mine) / statistics.median(other)
            yield row(f"1080 x 1920 {picture.suffix[1:].upper()} to patches, ms; beside it Pillow, torchvision, transformers",
                      span(mine), span(other), goal, f"{ratio:.2f} x the time", ratio <= 1)


def open_checkpoint(a):
    what, goal = "opening a large checkpoint", "< 200 ms"
    if a.checkpoint is None:
        yield skipped(what, goal, "no --checkpoint given")
        return
    size = sum(f.stat().st_size for f in a.checkpoint.glob("*.safetensors"))
    ours = Side("bench_open_checkpoint", a.build / "bin/bench_open_checkpoint", a.checkpoint)
    take_turns(a.runs, ours)
    seconds = [r["seconds"] for r in ours.json()]
    memory = [r["private_bytes"] for r in ours.json()]
    median = statistics.median(seconds)
    yield row(f"{what} ({size / 1e9:.1f} GB), ms", span(seconds), "", goal, f"{median * 1e3:.1f} ms", median < 0.2)
    median = statistics.median(memory)
    yield row("private memory after it, MiB", span(memory, 1 / MIB), "", "< 100 MB", f"{median / 1e6:.1f} MB",
              median < 100e6)


def cpu_model():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="a python with torch and transformers")
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--pipeline", type=Path, default=ROOT / "pipelines/gemma4.toml")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--cpu", action="store_true", help="processor time of programs instead of time on the clock")
    parser.add_argument("--only", choices=[f.__name__ for f in PARTS])
    a = parser.parse_args()
    Side.cpu = a.cpu
    a.build = a.build.resolve()
    a.checkpoint = a.checkpoint and a.checkpoint.resolve()
    a.lockstep = a.build / "bin/lockstep"
    kernel = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    print(f"{cpu_model()}, {os.cpu_count()} cores, {kernel}; least / median of {a.runs} runs, "
          f"{'processor time' if a.cpu else 'time on the clock'}, load {os.getloadavg()[0]:.1f}\n")
    print("| what | Lockstep | beside it | goal | found | reached |\n|---|---|---|---|---|---|", flush=True)
    for part in PARTS:
        if a.only in (None, part.__name__):
            for line in part(a):
                print(line, flush=True)


PARTS = [help_time, validate_time, default_run, check_kernel, process_image, open_checkpoint]

if __name__ == "__main__":
    main()
