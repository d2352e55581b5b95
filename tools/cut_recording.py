#!/usr/bin/env python3
"""Cut recordings down to what test data needs.

    python tools/cut_recording.py --out tests/data/recordings RECORDING…
    python tools/cut_recording.py --out tests/data/recordings --values --max-bytes 170000 --drop 'L*.[!o]*' RECORDING…

RECORDING is a folder written by tools/record_hf.py. OUT/<folder name> gets its reference.json, whole: it knows every tensor
by its hash. With --values it also gets a reference.safetensors with the tensors that are not left out.
"""

import argparse
import fnmatch
import shutil
from pathlib import Path

from safetensors import safe_open
from safetensors.torch import save_file


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", nargs="+", type=Path, metavar="RECORDING")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--values", action="store_true", help="keep values, not only hashes")
    parser.add_argument("--max-bytes", type=int, help="leave out larger tensors")
    parser.add_argument("--drop", action="append", default=[], help="leave out tensors of this name, * and ? allowed (repeatable)")
    args = parser.parse_args()

    def kept(name, tensor):
        small = args.max_bytes is None or tensor.numel() * tensor.element_size() <= args.max_bytes
        return small and not any(fnmatch.fnmatchcase(name, pattern) for pattern in args.drop)

    for recording in args.recordings:
        target = args.out / recording.name
        target.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(recording / "reference.json", target / "reference.json")
        if args.values:
            with safe_open(recording / "reference.safetensors", framework="pt") as source:
                tensors = {name: source.get_tensor(name) for name in source.keys()}
            save_file({n: t for n, t in tensors.items() if kept(n, t)}, str(target / "reference.safetensors"))
            (target / "reference.safetensors").chmod(0o644)


if __name__ == "__main__":
    main()
