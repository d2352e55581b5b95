#!/usr/bin/env python3
"""Writes the .npy files of tests/data/npy with NumPy, and what NumPy says is in them.

    python tools/make_npy_cases.py tests/data/npy

Needs numpy. Arrays count up from 1 (booleans alternate), so that a wrong order of bytes or axes shows.
"""

import json
import sys
from pathlib import Path

import numpy as np

DTYPES = {
    "b1": "bool", "u1": "uint8", "i1": "int8", "u2": "uint16", "i2": "int16", "u4": "uint32", "i4": "int32",
    "u8": "uint64", "i8": "int64", "f2": "float16", "f4": "float32", "f8": "float64",
}  # fmt: skip


def counting(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    count = int(np.prod(shape))
    values = np.arange(1, count + 1)
    return (values % 2 == 1 if dtype.endswith("b1") else values).astype(dtype).reshape(shape)


def accepted() -> dict[str, tuple[np.ndarray, tuple[int, int]]]:
    cases = {}
    for code in DTYPES:
        cases[f"{code}_little"] = (counting("<" + code, (2, 3)), (1, 0))
        if np.dtype(code).itemsize > 1:
            cases[f"{code}_big"] = (counting(">" + code, (2, 3)), (1, 0))
    cases["fortran_order"] = (np.asfortranarray(counting("<f4", (2, 3, 4))), (1, 0))
    cases["fortran_order_big"] = (np.asfortranarray(counting(">i2", (2, 3, 4))), (1, 0))
    cases["scalar"] = (counting("<f8", ()), (1, 0))
    cases["vector"] = (counting("<i8", (3,)), (1, 0))
    cases["empty"] = (counting("<f4", (0, 3)), (1, 0))
    cases["version_2"] = (counting("<f4", (3, 2)), (2, 0))
    cases["version_3"] = (counting("<f4", (3, 2)), (3, 0))
    return cases


def refused() -> dict[str, np.ndarray]:
    return {
        "complex": np.zeros(2, "<c8"),
        "text": np.array(["ab", "c"]),
        "fields": np.zeros(2, [("a", "<f4"), ("b", "<i4")]),
        "date": np.zeros(2, "<M8[s]"),
        "long_double": np.zeros(2, np.longdouble),
    }


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    contents = {}
    for name, (array, version) in accepted().items():
        with open(folder / f"{name}.npy", "wb") as file:
            np.lib.format.write_array(file, array, version=version)
        little = np.load(folder / f"{name}.npy").astype(array.dtype.newbyteorder("<"))
        code = array.dtype.str[1:]
        contents[name] = {"dtype": DTYPES[code], "shape": list(array.shape), "bytes": little.tobytes("C").hex()}
    for name, array in refused().items():
        np.save(folder / f"refused_{name}.npy", array)
    (folder / "contents.json").write_text(json.dumps(contents, indent=1) + "\n")


if __name__ == "__main__":
    main()
