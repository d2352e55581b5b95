#!/usr/bin/env python3
"""Write the seeds of the safetensors and record fuzz targets: make_fuzz_seeds.py tests/data/fuzz"""
import json
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/html"))
import records  # noqa: E402


def file(header, data, pad=0):
    text = json.dumps(header, separators=(",", ":")).encode() + b" " * pad
    return struct.pack("<Q", len(text)) + text + data


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def whole_record():
    """Every field of schema 1 in few bytes."""
    step = records.step("a", [records.check("c", "fail", "layer 1", message="m\nn", value="nan", metric="peir", bound={"max": 0.02})], "fail",
                        {"x": "b.y"}, outputs={"o": {"type": "t", "dtype": "bfloat16", "shape": [1, 2]},
                                               "p": {"type": "u", "tensors": {"k": {"dtype": "bool", "shape": []}}}},
                        parameters={"list": [1, 2.5, "t", True, None, {"k": "v"}]}, own="field", summary="s")
    crashed = records.step("b", [records.check("d", None, value=None, ladder=None, worst=None)], "crashed", reason="r", help="h",
                           isolation="process", output_tail=["t"], location="p.toml:1:2")
    finding = {"step": "a", "check": "c", "subject": None, "message": "m"}
    diagnostic = {"severity": "warning", "code": "P001", "message": "m", "file": "f", "line": 1, "column": 2, "did_you_mean": "d", "help": "h",
                  "notes": [{"message": "n", "file": None, "line": None, "column": None}]}
    baseline = {"file": "b", "sha256": "0", "compared": 1, "notes": ["n"], "worse": [finding], "better": [finding], "unknown": [finding], "update": "u"}
    return records.record([step, crashed], "crashed", 5, baseline=baseline, diagnostics=[diagnostic], message="m",
                          matrix={"name": "n ${matrix.n}", "rows": ["n=0", "n=1"]}, row={"name": "n=0", "values": {"n": 0}})


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
run_records = {
    "whole": whole_record(),
    "empty": records.record([], "invalid", 2),
    "summary": records.record([], "fail", 1, matrix={"rows": ["n=0", "n=1"]}, rows=[records.row(0), records.row(1, "fail", 1, "m", record=None)]),
}
(folder / "record").mkdir(parents=True, exist_ok=True)
for name, content in run_records.items():
    (folder / "record" / name).write_text(json.dumps(content, separators=(",", ":")))
