#!/usr/bin/env python3
"""Cut a few tensors out of reference recordings, as test data.

    python tools/extract_recording.py --out tests/data/reference --tensor tok.ids --tensor llm.embed RECORDING…

RECORDING is a folder written by tools/record_hf.py. Each becomes OUT/<folder name>.safetensors with the named tensors and,
as metadata, where they come from: checkpoint, its sha256, dtype, torch and transformers versions, CPU capability. A file
that exists is replaced.
"""

import argparse
import json
from pathlib import Path

from safetensors import safe_open
from safetensors.torch import save_file


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", nargs="+", type=Path, metavar="RECORDING")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--tensor", required=True, action="append", help="name of a tensor to keep (repeatable)")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for recording in args.recordings:
        about = json.loads((recording / "reference.json").read_text())
        with safe_open(recording / "reference.safetensors", framework="pt") as source:
            tensors = {name: source.get_tensor(name) for name in args.tensor}
        metadata = {
            "checkpoint": about["checkpoint"]["name"],
            "checkpoint_sha256": about["checkpoint"]["sha256"]["model.safetensors"],
            "dtype": about["options"]["dtype"],
            **{key: str(about["environment"][key]) for key in ("torch", "transformers", "cpu_capability")},
        }
        target = args.out / f"{recording.name}.safetensors"
        save_file(tensors, str(target), metadata=metadata)
        target.chmod(0o644)
        print(f"{target}: {len(tensors)} tensors, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
