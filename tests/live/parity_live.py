#!/usr/bin/env python3
"""Record with transformers on this machine, then require the native reference to compute the same bits.

    python tests/live/parity_live.py --lockstep build/bin/lockstep --out build/parity_live [--only NAME] [--fast-kernels]

Every case is recorded in bfloat16 and float32 by tools/record_hf.py and judged by pipelines/reference_parity.toml, from the
pictures and, where there are any, from the recorded pixel values. Every recorded tensor must be compared and be equal.

--fast-kernels runs the bfloat16 cases as on a CPU without bfloat16 instructions, with environment.kernels = "auto", which must
then use the fast kernels, and with "torch".
"""

import argparse
import itertools
import json
import os
import runpy
import shutil
import subprocess
import sys
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "pipelines/data/images"
TWO, WIDE = PICTURES / "two_384.png", PICTURES / "wide_odd.png"
TINY = ROOT / "tests/data/images/tiny.png"

SHAPES, IRREGULAR = ROOT / "pipelines/data/shapes-gemma4", ROOT / "tests/data/irregular-gemma4"
E4B_LIKE, NO_SHARING, PLACEHOLDER = Path("e4b_like"), Path("no_sharing"), Path("placeholder")  # made on the spot, below OUT

SHORT, LONG = "Hello there.", "What colour is the circle, and how many are there?"
STORY = ("Little by little the rain stopped and the quick brown fox came out from under the hedge. It looked left and right, shook "
         "the water from its coat, and went down to the river to see whether the lazy dog was still asleep there.")

# name: checkpoint, pictures, further options of record_hf.py. Sliding windows: SHAPES 64, IRREGULAR 24, E4B_LIKE 20.
CASES = {
    "picture": (SHAPES, [TWO], ["--chat", "Describe the image.", "--inner", "--steps", 12]),
    "odd_aspect": (SHAPES, [WIDE], ["--chat", "How many shapes are there?", "--inner-vision", "0", "--all-logits"]),
    "two_pictures": (SHAPES, [WIDE, TWO], ["--chat", "Compare them.", "--system", "Be brief.", "--inner-vision", "0"]),
    "raw_cast": (SHAPES, [TWO], ["--prompt", "<|image|>Describe the image.", "--cast-pixels"]),
    "budget_280": (SHAPES, [WIDE], ["--chat", "Describe the image.", "--soft-tokens", "280", "--inner-vision", "0"]),
    "text": (SHAPES, [], ["--chat", SHORT, "--inner-text", "all", "--steps", 12]),
    "text_beyond_window": (SHAPES, [], ["--chat", STORY, "--system", "Be brief.", "--inner-text", "0,4,5,9"]),
    "decode_crosses_window": (IRREGULAR, [], ["--prompt", SHORT, "--inner-text", "all", "--steps", 26]),
    "one_token": (IRREGULAR, [], ["--prompt", "a", "--inner-text", "all"]),
    "equal_rows": (SHAPES, [], ["--chat", SHORT, "--chat", SHORT]),
    "left_padded": (SHAPES, [], ["--chat", SHORT, "--chat", LONG, "--inner-text", "0,4,5,9", "--steps", 12]),
    "left_padded_beyond_window": (IRREGULAR, [], ["--prompt", "a", "--prompt", STORY, "--inner-text", "all"]),
    "left_padded_pictures": (SHAPES, [WIDE, TWO], ["--chat", "What?", "--chat", "What colour is the circle on the left?"]),
    "irregular": (IRREGULAR, [TINY], ["--chat", "What shape is red?", "--inner", "--steps", 6]),
    "irregular_budget_280": (IRREGULAR, [TWO], ["--chat", "What shape is red?", "--soft-tokens", "280"]),
    "e4b_picture": (E4B_LIKE, [TINY], ["--chat", "What shape is red?", "--system", "Be brief.", "--inner"]),
    "e4b_decode_crosses_window": (E4B_LIKE, [], ["--prompt", SHORT, "--inner-text", "all", "--steps", 24]),
    "e4b_left_padded": (E4B_LIKE, [], ["--prompt", SHORT, "--prompt", STORY, "--inner-text", "all", "--steps", 4]),
    "no_sharing": (NO_SHARING, [], ["--prompt", LONG, "--inner-text", "all"]),
    "placeholder_generated": (PLACEHOLDER, [], ["--prompt", SHORT, "--inner-text", "all"]),
}


def tool(name, *arguments):
    """Runs a script of tools/ in a child, which has transformers loaded already."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            sys.argv = [name, *map(str, arguments)]
            runpy.run_path(str(ROOT / "tools" / name), run_name="__main__")
            code = 0
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    if os.waitpid(child, 0)[1] != 0:
        raise SystemExit(f"{name} failed")


def make_placeholder(folder, first_recording):
    """An E4B-like checkpoint that draws the placeholder of a picture where it drew another token: the placeholder's row of
    the tied head is that token's, longer by half."""
    from safetensors import safe_open
    from safetensors.torch import load_file, save_file

    tool("record_hf.py", "--checkpoint", folder, "--out", first_recording, *CASES["placeholder_generated"][2])
    with safe_open(str(first_recording / "reference.safetensors"), "pt") as recording:
        drawn = int(recording.get_tensor("decode.tokens")[0, 0])
    file = folder / "model.safetensors"
    tensors = load_file(str(file))
    table = tensors["model.language_model.embed_tokens.weight"]
    table[placeholder_of(folder)] = 1.5 * table[drawn]
    save_file(tensors, str(file), metadata={"format": "pt"})


def placeholder_of(checkpoint):
    return json.loads((checkpoint / "config.json").read_text())["image_token_id"]


def made(checkpoint, out):
    """The checkpoint's folder; it is made when it is first asked for."""
    if checkpoint.is_absolute():
        return checkpoint
    folder = out / "checkpoints" / checkpoint
    if folder.exists():
        return folder
    if checkpoint == PLACEHOLDER:
        shutil.copytree(made(E4B_LIKE, out), folder)
        make_placeholder(folder, out / "first_token")
        return folder
    spec = json.loads((ROOT / "tests/live/e4b_like.json").read_text())
    if checkpoint == NO_SHARING:
        spec["text"]["num_kv_shared_layers"] = 0
    folder.mkdir(parents=True)
    (out / f"{checkpoint}.json").write_text(json.dumps(spec))
    tool("make_random_checkpoint.py", "--out", folder, "--spec", out / f"{checkpoint}.json")
    return folder


def draws_placeholder(recording, checkpoint):
    from safetensors import safe_open

    with safe_open(str(recording / "reference.safetensors"), "pt") as tensors:
        drawn = tensors.get_tensor("decode.tokens")[0, 0]
    return int(drawn) == placeholder_of(checkpoint)


def problems(lockstep, recording, checkpoint, pictures, kernels):
    """What is wrong with a run; `pictures` is the folder to start from, or None, `kernels` what must compute."""
    report = recording / ("pictures.json" if pictures else "pixels.json")
    command = [lockstep, "run", ROOT / "pipelines/reference_parity.toml", "--set", f"recording={recording}",
               "--set", f"checkpoint={checkpoint}", "--json", report]
    if pictures:
        command += ["--set", f"images={pictures}"]
    if kernels == "torch":
        command += ["--set", "environment.kernels=torch"]
    ran = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if ran.returncode:
        return [f"exit code {ran.returncode}", ran.stdout, ran.stderr]
    record = json.loads(report.read_text())
    step = next(s for s in record["steps"] if s["id"] == "parity")
    found = list(step["fingerprint_differences"])
    if kernels and record["environment"]["kernels"] != kernels:
        found.append(f"kernels: {record['environment']['kernels']}, {record['environment']['kernels_reason']}")
    entries = {c["subject"]: c for c in step["checks"] if c.get("subject")}
    taken = () if pictures else ("img.",)
    for name in json.loads((recording / "reference.json").read_text())["tensors"]:
        if name.startswith(taken):
            continue
        if name not in entries:
            found.append(f"{name} was not compared")
        elif entries[name]["ladder"] != "bits_equal" or entries[name]["verdict"] != "pass":
            found.append(f"{name}: {entries[name]['ladder']}, {entries[name]['verdict']}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lockstep", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--only", choices=CASES, help="one case")
    parser.add_argument("--fast-kernels", action="store_true", help="bfloat16 without bfloat16 instructions")
    args = parser.parse_args()
    if args.fast_kernels:
        os.environ.update(ATEN_CPU_CAPABILITY="avx2", ONEDNN_MAX_CPU_ISA="AVX2")
    sys.path.insert(0, str(ROOT / "tools"))
    from torchvision_compat import ensure_torchvision

    ensure_torchvision()
    import transformers.models.gemma4.modeling_gemma4  # noqa: F401  once, for every child

    shutil.rmtree(args.out, ignore_errors=True)
    failed = False
    for name, (checkpoint, pictures, options) in CASES.items():
        if args.only not in (None, name):
            continue
        checkpoint = made(checkpoint, args.out)
        folder = args.out / f"{name}_pictures"
        folder.mkdir(parents=True)
        for picture in pictures:
            shutil.copy(picture, folder)
        for dtype in ("bf16",) if args.fast_kernels else ("bf16", "fp32"):
            recording = args.out / f"{name}_{dtype}"
            tool("record_hf.py", "--checkpoint", checkpoint, "--out", recording, "--dtype", dtype, "--steps", 2, *options,
                 *(word for picture in pictures for word in ("--image", picture)))
            if name == "placeholder_generated" and not draws_placeholder(recording, checkpoint):
                raise SystemExit(f"{recording.name}: no placeholder was generated, so its decoding is not tested")
            starts = [folder, None] if pictures else [None]
            for start, kernels in itertools.product(starts, ["fast", "torch"] if args.fast_kernels else [None]):
                found = problems(args.lockstep, recording, checkpoint, start, kernels)
                print(f"{'FAIL' if found else 'ok'} {recording.name} from {'pictures' if start else 'recorded inputs'}"
                      f"{f', kernels: {kernels}' if kernels else ''}")
                for line in found:
                    print("    " + line)
                failed = failed or bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
