#!/usr/bin/env python3
"""Measure Lockstep beside transformers at the size of a real model, all in one run, and print Markdown tables.

    tools/make_e2b_random.py e2b-random
    tests/bench/model_size.py --python PYTHON --checkpoint e2b-random [--build build] [--without-bf16-instructions]

PYTHON has torch and transformers. Needs 24 GiB: transformers holds the weights, and the file stays in memory beside them. Both
sides compute in bfloat16 with two threads from the same inputs. --without-bf16-instructions hides the CPU's bfloat16
instructions from PyTorch on both sides, as on a CPU that has none.
"""
import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROFILE, MAX_SEQ, NEW_TOKENS = "e2b_66x36_264", 2048, 16
HIDDEN = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"}


def run(*command, env=None):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=env)
    if done.returncode:
        sys.exit(f"model_size.py: {' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr or done.stdout}")
    return done.stdout


def bytes_per_token(checkpoint):
    """Of the weights that decoding one token reads: layers, the head, and no tables."""
    with open(checkpoint / "model.safetensors", "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    text = json.loads((checkpoint / "config.json").read_text())["text_config"]
    first_sharing = text["num_hidden_layers"] - text["num_kv_shared_layers"]
    total = 0
    for name, entry in header.items():
        stem = name.removeprefix("model.language_model.")
        if stem == name or stem == "embed_tokens_per_layer.weight":
            continue
        parts = stem.split(".")
        unused = parts[0] == "layers" and int(parts[1]) >= first_sharing and parts[3] in ("k_proj", "v_proj", "k_norm")
        if not unused:
            total += entry["data_offsets"][1] - entry["data_offsets"][0]
    return total


def whole_run(lockstep, checkpoint, env):
    """All eight stages, seconds and the record."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.json"
        start = time.perf_counter()
        run(lockstep, "run", ROOT / "pipelines/gemma4.toml", "--config", ROOT / "configs/e2b.toml", "--set", f"checkpoint={checkpoint}",
            "--set", f"max_new_tokens={NEW_TOKENS}", "--json", record, env=env)
        return time.perf_counter() - start, json.loads(record.read_text())


def row(what, ours, theirs, goal, found, reached):
    return f"| {what} | {ours} | {theirs} | {goal} | {found} | {'yes' if reached else '**no**'} |"


def faster(what, ours, theirs, goal):
    found = theirs / ours
    return row(what, f"{ours:.3g}", f"{theirs:.3g}", f">= {goal:g} x faster", f"{found:.1f} x", found >= goal)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--checkpoint", required=True, type=Path)
    parser.add_argument("--build", default=ROOT / "build", type=Path)
    parser.add_argument("--without-bf16-instructions", action="store_true")
    a = parser.parse_args()
    env = dict(os.environ, OMP_WAIT_POLICY="passive", **(HIDDEN if a.without_bf16_instructions else {}))

    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder) / "inputs.safetensors"
        script = ROOT / "tests/bench/hf_model_size.py"
        run(a.python, script, a.checkpoint, inputs, "--prepare", env=env)
        ours = json.loads(run(a.build / "bin/bench_model_size", a.checkpoint, inputs, PROFILE, MAX_SEQ, env=env))
        seconds, record = whole_run(a.build / "bin/lockstep", a.checkpoint, env)
        theirs = json.loads(run(a.python, script, a.checkpoint, inputs, env=env))

    gigabytes = bytes_per_token(a.checkpoint) / 1e9
    share = ours["decode"] * gigabytes / (ours["read_speed"] / 1e9)
    print(f"Prompt of {ours['prompt_tokens']} tokens, kernels: {ours['kernels']}, verdict of the whole run: {record['verdict']}\n")
    print("| what | Lockstep | beside it transformers | goal | found | reached |\n|---|---|---|---|---|---|")
    print(faster("open and first embedding, s", ours["open"], theirs["open"], 20))
    print(faster("vision tower, s", ours["vision"], theirs["vision"], 5))
    print(faster("prefill, s", ours["prefill"], theirs["prefill"], 5))
    print(row("decode, tokens/s", f"{ours['decode']:.2f}", f"{theirs['decode']:.2f}", ">= 1.7 x faster",
              f"{ours['decode'] / theirs['decode']:.2f} x", ours["decode"] >= 1.7 * theirs["decode"]))
    print(row(f"the same as a share of the memory's read speed ({ours['read_speed'] / 1e9:.1f} GB/s; {gigabytes:.2f} GB a token)",
              f"{share:.0%}", f"{theirs['decode'] * gigabytes / (ours['read_speed'] / 1e9):.0%}", "> 75 %", f"{share:.0%}", share > 0.75))
    print(row(f"all eight stages, max_seq {MAX_SEQ}, {NEW_TOKENS} new tokens, s", f"{seconds:.0f}", "", "< 480 s", f"{seconds:.0f} s",
              seconds < 480))
    private = max(step.get("peak_private_bytes", 0) for step in record["steps"]) / 1e6
    print(row("private memory of that run, MB; beside it transformers' peak, MiB", f"{private:.0f}", f"{theirs['peak_mib']:.0f}",
              "< 1000 MB", f"{private:.0f} MB", 0 < private < 1000))
    print(f"\nThe static runtime, which has no counterpart: vision {ours['static_vision']:.2f} s, prefill padded to {MAX_SEQ} "
          f"{ours['static_prefill']:.1f} s, decode {ours['static_decode']:.2f} tokens/s.")
    print("\n| step | s | peak resident MiB |\n|---|---|---|")
    for step in record["steps"]:
        print(f"| {step['id']} | {step['seconds']:.1f} | {step['peak_rss_bytes'] / 2**20:.0f} |")


if __name__ == "__main__":
    main()
