#!/usr/bin/env python3
"""Print the record of a pipelines/reference_parity.toml run as a Markdown table: how many recorded tensors have equal bits.

    tools/parity_table.py RECORD.json
"""
import json
import re
import sys
from collections import OrderedDict

GROUPS = OrderedDict([
    ("inputs: ids, mask, patches", r"tok\.|img\.|llm\.ids|llm\.position_ids"),
    ("token embedding, fusion, per-layer inputs", r"llm\.|ple\."),
    ("vision tower: output of each layer", r"vis\.L\d+\.out"),
    ("vision tower: everything else", r"vis\."),
    ("masks and rope", r"mask\.|rope\."),
    ("prefill: output of each layer", r"L\d+\.out"),
    ("prefill: inside the layers", r"L\d+\."),
    ("prefill: final norm and logits", r"final_norm|logits_|prefill_last\."),
    ("cache after prefill", r"cache\."),
    ("decode: output of each layer", r"decode\.\d+\.L\d+\.out"),
    ("decode: logits", r"decode\.\d+\.logits_"),
    ("decode: ids, masks, rope", r"decode\."),
    ("cache after the last step", r"cache_final\."),
    ("generation", r"gen\."),
])


def main():
    record = json.load(open(sys.argv[1]))
    step = next(s for s in record["steps"] if s["id"] == "parity")
    counts = {name: [0, 0] for name in GROUPS}
    for check in step["checks"]:
        subject = check.get("subject")
        if not subject:
            continue
        group = next((name for name, pattern in GROUPS.items() if re.match(pattern, subject)), None)
        if group is None:
            sys.exit(f"parity_table.py: no group for {subject}")
        counts[group][0] += 1
        counts[group][1] += check["ladder"] == "bits_equal"
    print("| tensors | compared | equal bits |\n|---|---|---|")
    for name, (compared, equal) in counts.items():
        if compared:
            print(f"| {name} | {compared} | {equal} |")
    print(f"| all | {sum(c for c, _ in counts.values())} | {sum(e for _, e in counts.values())} |")
    environment = record["environment"]
    print(f"\n{environment['cpu']}, {environment['cpu_capability']}, {environment['dtype']}, {environment['threads']} threads; "
          f"kernels: {environment.get('kernels', 'torch')}")


if __name__ == "__main__":
    main()
