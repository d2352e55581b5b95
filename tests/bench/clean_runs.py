#!/usr/bin/env python3
"""Run pipelines/gemma4.toml without any fault in 336 ways and count false alarms.

    tests/bench/clean_runs.py [--build build] [--jobs 2] [--every N]

Ways differ in checkpoint, dtype, threads, picture, prompt, its format and length, profile, max_seq and decode steps. A run that does not
pass is printed with its command. `--every N` takes each N-th way only. Exit code 1 if any run failed.
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHECKPOINTS = {"shapes": ROOT / "pipelines/data/shapes-gemma4", "irregular": ROOT / "tests/data/irregular-gemma4"}
IMAGES = ROOT / "pipelines/data/images"
DTYPES = ("bfloat16", "float32")
SENTENCE = "Name every shape, its colour and where it lies. "


def ways():
    """Dictionaries of variables and settings, each another run."""
    asked = ("Describe the image.", "What is above?", "How many?", "Which colours are there, and where?", SENTENCE * 4)
    for checkpoint, dtype, threads in itertools.product(CHECKPOINTS, DTYPES, (1, 2)):
        common = {"checkpoint": CHECKPOINTS[checkpoint], "dtype": dtype, "environment.threads": threads}
        for image, prompt, max_seq in itertools.product(("", IMAGES / "two_384.png"), asked, (208, 257)):
            yield common | {"image": image, "prompt": "<|image|>" + prompt, "max_seq": max_seq}
        for words, max_seq in itertools.product((1, 2, 11, 12, 13, 30, 60), (160, 200)):
            yield common | {"image": "", "prompt": " ".join(["red"] * words), "max_seq": max_seq, "decode_steps": 12}
        # Ids of the irregular checkpoint's tokenizer put a picture of the chat format into another slot.
        for prompt, max_seq in itertools.product(asked[:2] if checkpoint == "shapes" else (), (160, 224)):
            yield common | {"image": IMAGES / "wide_odd.png", "prompt": "<|image|>" + prompt, "prompt_format": "chat",
                            "profile": "shapes_39x15_65_chat", "max_seq": max_seq}
            yield common | {"image": IMAGES / "two_384.png", "prompt": "<|image|>" + prompt, "prompt_format": "chat",
                            "profile": "shapes_24x24_64_chat", "max_seq": max_seq}
        for prompt, max_seq in itertools.product(asked[:2], (160, 224)):
            yield common | {"image": "", "prompt": prompt, "prompt_format": "chat", "max_seq": max_seq}


def run(program, way):
    command = [str(program), "run", str(ROOT / "pipelines/gemma4.toml"), "--json", "-"]
    for key, value in way.items():
        command += ["--set", f"{key}={value}"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    try:
        return command, result.returncode, json.loads(result.stdout)
    except json.JSONDecodeError:
        return command, result.returncode, {"steps": [], "verdict": result.stderr}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()

    todo = list(ways())[::args.every]
    alarms, warnings = [], collections.Counter()
    worst = collections.defaultdict(float)  # (dtype, stage, check) -> largest share of its bound
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for done, (way, (command, code, record)) in enumerate(
                zip(todo, pool.map(lambda w: run(args.build / "bin/lockstep", w), todo)), 1):
            if code != 0:
                alarms.append(" ".join(command))
                print(f"\nexit code {code}: {alarms[-1]}\n{record['verdict']}", flush=True)
            for step in record["steps"]:
                for check in step["checks"]:
                    if check["verdict"] == "warn":
                        warnings[f"{step['id']}.{check['name']}"] += 1
                    if check["metric"] == "norm_wise" and isinstance(check["value"], float):
                        key = way["dtype"], step["id"], check["name"]
                        worst[key] = max(worst[key], check["value"] / check["bound"]["k"])
            print(f"\r{done}/{len(todo)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(f"{len(todo)} runs, {len(alarms)} false alarms; warnings: {dict(warnings) or 'none'}\n")
    print("| dtype | stage | check | largest value, as a share of its bound |\n|---|---|---|---|")
    for (dtype, stage, check), share in sorted(worst.items()):
        print(f"| {dtype} | {stage} | `{check}` | {share:.3f} |")
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main())
