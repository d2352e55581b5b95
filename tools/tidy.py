#!/usr/bin/env python3
"""tools/tidy.py BUILD: runs clang-tidy over core and plugins with the compile commands of the folder BUILD.

A file that was clean is looked at again only when its text after preprocessing, .clang-tidy or clang-tidy itself has
changed: what was clean is remembered in ~/.cache/lockstep/tidy (XDG_CACHE_HOME is heeded), by content and not by name,
so that a new clone profits too. Exit code 1 if there are findings.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "lockstep" / "tidy"
TIDY = "clang-tidy-14"
FORGOTTEN_AFTER_DAYS = 30


def commands(build):
    """The first compile command of each source under core/ and plugins/."""
    first = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["directory"], entry["file"])
        if file.is_relative_to(ROOT / "core") or file.is_relative_to(ROOT / "plugins"):
            first.setdefault(file, entry)
    return first


def preprocessed(entry):
    """The source with its headers and comments (NOLINT is one), without the names of folders; None if it fails."""
    words = shlex.split(entry["command"])
    while not os.path.basename(words[0]).startswith("clang"):
        words.pop(0)  # ccache
    output = words.index("-o")
    del words[output : output + 2]
    words.remove("-c")
    result = subprocess.run([*words, "-E", "-C", "-P"], cwd=entry["directory"], capture_output=True)
    return result.stdout if result.returncode == 0 else None


def look_at(file, entry, build, seed):
    """What clang-tidy says about `file`, "" if nothing; and whether that was remembered."""
    text = preprocessed(entry)
    mark = None if text is None else CACHE / hashlib.sha256(seed + text).hexdigest()
    if mark is not None and mark.exists():
        mark.touch()
        return "", True
    result = subprocess.run([TIDY, "--quiet", "-p", str(build), str(file)], capture_output=True, text=True)
    if result.returncode != 0 or "warning:" in result.stdout:
        return result.stdout + (result.stderr if not result.stdout else ""), False
    if mark is not None:
        mark.touch()
    return "", False


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    CACHE.mkdir(parents=True, exist_ok=True)
    for mark in CACHE.iterdir():
        if time.time() - mark.stat().st_mtime > FORGOTTEN_AFTER_DAYS * 86400:
            mark.unlink()
    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    seed = version + (ROOT / ".clang-tidy").read_bytes()
    found = remembered = 0
    files = commands(build)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {pool.submit(look_at, file, entry, build, seed): file for file, entry in files.items()}
        for done in concurrent.futures.as_completed(jobs):
            text, known = done.result()
            remembered += known
            if text:
                found += 1
                print(f"{jobs[done].relative_to(ROOT)}:\n{text}", flush=True)
    print(f"tidy: {len(files)} files, {remembered} known to be clean, {found} with findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
