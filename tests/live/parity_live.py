#!/usr/bin/env python3
"""Record with transformers on this machine, then require the native reference to compute the same bits.

    python tests/live/parity_live.py --lockstep build/bin/lockstep --out build/parity_live [--only NAME]

Every case is recorded in bfloat16 and float32 by tools/record_hf.py and judged by pipelines/reference_parity.toml, from the
pictures and, where there are any, from the recorded pixel values.
"""

import argparse
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
SHAPES, IRREGULAR = ROOT / "pipelines/data/shapes-gemma4", ROOT / "tests/data/irregular-gemma4"
STAGES = ("tok.", "img.", "vis.", "llm.", "ple.")

TWO, WIDE = PICTURES / "two_384.png", PICTURES / "wide_odd.png"
TINY = ROOT / "tests/data/images/tiny.png"

# name: checkpoint, pictures, further options of record_hf.py
CASES = {
    "no_resize": (SHAPES, [TWO], ["--chat", "Describe the image.", "--inner-vision", "all"]),
    "odd_aspect": (SHAPES, [WIDE], ["--chat", "How many shapes are there?", "--inner-vision", "0"]),
    "two_pictures": (SHAPES, [WIDE, TWO], ["--chat", "Compare them.", "--system", "Be brief.", "--inner-vision", "0"]),
    "left_padded": (SHAPES, [], ["--chat", "Hello there.", "--chat", "What colour is the circle, and how many are there?"]),
    "left_padded_pictures": (SHAPES, [WIDE, TWO], ["--chat", "What?", "--chat", "What colour is the circle on the left?"]),
    "raw_cast": (SHAPES, [TWO], ["--prompt", "<|image|>Describe the image.", "--cast-pixels"]),
    "budget_280": (SHAPES, [WIDE], ["--chat", "Describe the image.", "--soft-tokens", "280", "--inner-vision", "0"]),
    "irregular": (IRREGULAR, [TINY], ["--chat", "What shape is red?", "--inner-vision", "all"]),
    "irregular_budget_280": (IRREGULAR, [TWO], ["--chat", "What shape is red?", "--soft-tokens", "280"]),
}


def record(arguments):
    """Runs record_hf.py in a child, which has transformers loaded already."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            sys.argv = ["record_hf.py", *map(str, arguments)]
            runpy.run_path(str(ROOT / "tools/record_hf.py"), run_name="__main__")
            code = 0
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    if os.waitpid(child, 0)[1] != 0:
        raise SystemExit("record_hf.py failed")


def problems(lockstep, recording, checkpoint, pictures):
    """What is wrong with a run; `pictures` is the folder to start from, or None."""
    report = recording / ("pictures.json" if pictures else "pixels.json")
    command = [lockstep, "run", ROOT / "pipelines/reference_parity.toml", "--set", f"recording={recording}",
               "--set", f"checkpoint={checkpoint}", "--json", report]
    if pictures:
        command += ["--set", f"images={pictures}"]
    ran = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if ran.returncode:
        return [f"exit code {ran.returncode}", ran.stdout, ran.stderr]
    step = next(s for s in json.loads(report.read_text())["steps"] if s["id"] == "parity")
    found = list(step["fingerprint_differences"])
    entries = {c["subject"]: c for c in step["checks"] if c.get("subject")}
    taken = () if pictures else ("img.",)
    for name in json.loads((recording / "reference.json").read_text())["tensors"]:
        if name.startswith(taken) or not name.startswith(STAGES):
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
    args = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tools"))
    from torchvision_compat import ensure_torchvision

    ensure_torchvision()
    import transformers.models.gemma4.modeling_gemma4  # noqa: F401  once, for every child

    shutil.rmtree(args.out, ignore_errors=True)
    failed = False
    for name, (checkpoint, pictures, options) in CASES.items():
        if args.only not in (None, name):
            continue
        folder = args.out / f"{name}_pictures"
        folder.mkdir(parents=True)
        for picture in pictures:
            shutil.copy(picture, folder)
        for dtype in ("bf16", "fp32"):
            recording = args.out / f"{name}_{dtype}"
            record(["--checkpoint", checkpoint, "--out", recording, "--dtype", dtype, "--steps", 1, "--no-generate", *options,
                    *(word for picture in pictures for word in ("--image", picture))])
            for start in [folder, None] if pictures else [None]:
                found = problems(args.lockstep, recording, checkpoint, start)
                print(f"{'FAIL' if found else 'ok'} {recording.name} from {'pictures' if start else 'recorded inputs'}")
                for line in found:
                    print("    " + line)
                failed = failed or bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
