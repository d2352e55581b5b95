#!/usr/bin/env python3
"""Write the seeds of the safetensors fuzz targets: make_fuzz_seeds.py tests/data/fuzz"""
import json
import struct
import sys
from pathlib import Path


def file(header, data, pad=0):
    text = json.dumps(header, separators=(",", ":")).encode() + b" " * pad
    return struct.pack("<Q", len(text)) + text + data


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


folder = Path(sys.argv[1])
files = {
    "nothing": file({}, b""),
    "one": file({"a": entry("F32", [2], 0, 8)}, bytes(8)),
    "metadata": file({"__metadata__": {"format": "pt"}, "a": entry("U8", [3], 0, 3)}, b"abc", pad=5),
    "scalar_and_empty": file({"s": entry("BF16", [], 0, 2), "e": entry("I64", [0, 7], 2, 2)}, b"xy"),
    "out_of_order": file({"z": entry("F8_E4M3", [2, 2], 2, 6), "a": entry("BOOL", [2], 0, 2)}, bytes(6)),
    "padding": file({"a": entry("I16", [1], 0, 2), "b": entry("F64", [1], 64, 72),
                     "__lockstep_padding__0": entry("U8", [62], 2, 64)}, bytes(72)),
}
indexes = {
    "two_shards": {"metadata": {"total_size": 2}, "weight_map": {"a": "one.safetensors", "b": "two.safetensors"}},
    "one_shard": {"weight_map": {"a": "./one.safetensors"}},
    "huge_number": {"metadata": {"total_size": 10**400}, "weight_map": {"a": "one.safetensors"}},
    "long_name": {"metadata": {}, "weight_map": {"a": "x" * 300}},
    "escape": {"weight_map": {"a": "../one.safetensors"}},
}
(folder / "safetensors").mkdir(parents=True, exist_ok=True)
(folder / "safetensors_index").mkdir(parents=True, exist_ok=True)
for name, content in files.items():
    (folder / "safetensors" / name).write_bytes(content)
for name, content in indexes.items():
    (folder / "safetensors_index" / name).write_text(json.dumps(content))
