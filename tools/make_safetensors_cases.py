#!/usr/bin/env python3
"""Write the safetensors files that tests/safetensors reads, with Hugging Face's own code, and what is in them.

    make_safetensors_cases.py tests/data/safetensors

Needs torch, safetensors and huggingface_hub. `all_dtypes.json` and `sharded.json` list, for each tensor, PyTorch's
dtype, the shape and the bytes in hex: the values come from torch, not from the file.
"""
import argparse
import json
import shutil
from pathlib import Path

import torch
from huggingface_hub import save_torch_state_dict
from safetensors.torch import save_file

DTYPES = [
    torch.bool, torch.uint8, torch.int8, torch.uint16, torch.int16, torch.uint32, torch.int32, torch.uint64,
    torch.int64, torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz,
    torch.float8_e8m0fnu, torch.float16, torch.bfloat16, torch.float32, torch.float64,
]


def pattern(dtype, shape):
    """Distinct bytes; for bool 0 and 1 in turn."""
    count = torch.Size(shape).numel()
    if dtype == torch.bool:
        return (torch.arange(count) % 2 == 1).reshape(shape)
    raw = (torch.arange(count * dtype.itemsize) * 37 % 251).to(torch.uint8)
    return raw.view(dtype).reshape(shape) if count else torch.empty(shape, dtype=dtype)


def describe(tensors):
    return {
        name: {
            "dtype": str(t.dtype).removeprefix("torch."),
            "shape": list(t.shape),
            "bytes": t.contiguous().flatten().view(torch.uint8).numpy().tobytes().hex() if t.numel() else "",
        }
        for name, t in tensors.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)

    tensors = {f"matrix.{str(d).removeprefix('torch.')}": pattern(d, (3, 5)) for d in DTYPES}
    tensors["scalar"] = pattern(torch.float32, ())
    tensors["empty"] = pattern(torch.bfloat16, (0, 7))
    tensors["four axes"] = pattern(torch.int16, (2, 1, 3, 2))
    tensors["näme \"quoted\" 形"] = pattern(torch.float64, (1,))
    save_file(tensors, folder / "all_dtypes.safetensors", metadata={"format": "pt", "note": "ünïcode \n \"q\""})
    (folder / "all_dtypes.json").write_text(json.dumps(describe(tensors), indent=1, ensure_ascii=False) + "\n")

    state = {f"layers.{i}.weight": pattern(torch.bfloat16, (8, i + 1)) for i in range(6)}
    shutil.rmtree(folder / "sharded", ignore_errors=True)
    (folder / "sharded").mkdir()
    save_torch_state_dict(state, folder / "sharded", max_shard_size=200)
    (folder / "sharded.json").write_text(json.dumps(describe(state), indent=1) + "\n")


if __name__ == "__main__":
    main()
