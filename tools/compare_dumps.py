#!/usr/bin/env python3
"""Compare two reference dumps tensor by tensor.

    python tools/compare_dumps.py DIR_A DIR_B [--all]

Prints, for tensors that differ, the share of unequal elements, the largest absolute difference, and the largest
difference relative to the largest magnitude of A; then a summary. Exit status 0 if every common tensor is bit-equal.
"""

import argparse
import json
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a")
    parser.add_argument("b")
    parser.add_argument("--all", action="store_true", help="also list equal tensors")
    parser.add_argument("--quiet", action="store_true", help="summary only")
    args = parser.parse_args()
    a, b = (load_file(str(Path(d) / "reference.safetensors")) for d in (args.a, args.b))
    order = list(json.loads((Path(args.a) / "reference.json").read_text())["tensors"])
    equal, worst = 0, (0.0, "-")
    differing = []
    for name in order:
        if name not in b:
            print(f"{name}: only in the first")
            continue
        x, y = a[name], b[name]
        if x.shape != y.shape or x.dtype != y.dtype:
            print(f"{name}: {tuple(x.shape)} {x.dtype} against {tuple(y.shape)} {y.dtype}")
            differing.append(name)
            continue
        if torch.equal(x, y):
            equal += 1
            if args.all:
                print(f"{name}: equal")
            continue
        d = (x.double() - y.double()).abs()
        relative = float(d.max() / max(float(x.double().abs().max()), 1e-30))
        differing.append(name)
        worst = max(worst, (relative, name))
        if not args.quiet:
            print(f"{name}: {float((x != y).double().mean()):.2%} unequal, max abs {float(d.max()):.3e}, relative {relative:.3e}")
    for name in b.keys() - a.keys():
        print(f"{name}: only in the second")
    print(f"{equal} equal, {len(differing)} different; worst relative {worst[0]:.3e} at {worst[1]}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
