#!/usr/bin/env python3
"""Compare the C++ tokenizer with the `tokenizers` package on random strings and ids, both directions.

    python tests/live/tokenizer_live.py --dump build/bin/tokenizer_dump TOKENIZER.json… [--count 4000] [--seed 1]

Besides the given files, variants of the first one are compared: added tokens with lstrip, rstrip and normalized, merges
written as text, no byte fallback, holes in it, unknown tokens not fused, ignore_merges, a post-processor with tokens.
"""

import argparse
import copy
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from tokenizers import Tokenizer

SCRIPTS = ["abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", ".,;:!?()[]{}<>|/\\\"'`~@#$%^&*-_=+",
           "àéîõüßçñøåŁŽ", "абвгдежзийклмноп", "αβγδεζηθικλμ", "אבגדהוזחט", "ابتثجحخد", "हिन्दीभाषा", "ไทยภาษา", "日本語中文字形色红绿蓝",
           "あいうえおアイウ", "한국어", "\u0300\u0301\u0308\u20dd", "😀🎉👍🔴🔵🟢👨‍👩‍👧🇩🇪", "𝄞𝔘𐍈", "←→✓•…€“”‘’–—"]
SPACES = [" ", "  ", "\n", "\t", "\r\n", "\u00a0", "\u3000", "\u2028", "\u0085", "\u200b", "\u1680", "\u202f", "\x0b\x0c", "\x1c\x1f"]
BYTES = [f"<0x{b:02X}>" for b in (0x00, 0x0A, 0x20, 0x41, 0xC3, 0xE2, 0xFF)] + ["<0x4>", "<0xa1>", "<0x"]
WORDS = ["the", "red", "circle", "is", "left", "of", "a", "blue", "square", "How", "many", "shapes", "are", "there",
         "image", "Describe", "What", "There", "triangle", "green", "colour", "word"]


def random_text(rng, added):
    """A mixture of everything that has its own rule in the tokenizer."""
    parts = []
    for _ in range(rng.randint(0, 12)):
        kind = rng.randrange(10)
        if kind == 0:
            parts.append(rng.choice(added))
        elif kind == 1:  # most of an added token
            token = rng.choice(added)
            cut = rng.randint(0, len(token))
            parts.append(token[:cut] + token[cut + 1:])
        elif kind == 2:
            parts.append(rng.choice(SPACES) * rng.choice([1, 1, 2, 3, rng.randint(1, 70)]))
        elif kind == 3:
            parts.append("\u2581" * rng.choice([1, 1, 2, 3, rng.randint(1, 40)]))
        elif kind == 4:
            parts.append(rng.choice(BYTES))
        elif kind == 5:
            parts.append("".join(chr(rng.choice([rng.randrange(0x20), 0x7F, rng.randrange(0x80, 0xA0)]))
                                 for _ in range(rng.randint(1, 4))))
        elif kind == 6:  # any code point but a surrogate
            points = (rng.randrange(0x110000 - 0x800) for _ in range(rng.randint(1, 4)))
            parts.append("".join(chr(p if p < 0xD800 else p + 0x800) for p in points))
        elif kind == 7:
            script = rng.choice(SCRIPTS)
            parts.append("".join(rng.choice(script) for _ in range(rng.randint(1, 20))))
        else:
            parts.append(rng.choice(["", " "]).join(rng.choice(WORDS) for _ in range(rng.randint(1, 6))))
    return "".join(parts)


def random_ids(rng, size, byte_ids):
    """Ids that encoding would not give, bytes above all; a few lie outside of the vocabulary."""
    choices = [lambda: rng.choice(byte_ids), lambda: rng.randrange(size), lambda: rng.randrange(size + 5)]
    return [rng.choice(choices)() for _ in range(rng.randint(0, 12))]


def variants(document):
    """Name and document of each changed copy."""

    def changed(name, change):
        copied = copy.deepcopy(document)
        change(copied)
        return name, copied

    def flags(copied, **values):
        for token in copied["added_tokens"]:
            token.update(values)

    def mixed_flags(copied):
        for index, token in enumerate(copied["added_tokens"]):
            # A white-space token with lstrip after one with rstrip makes the package panic.
            token.update(lstrip=index % 3 == 0 and not token["content"].isspace(), rstrip=index % 5 == 0,
                         normalized=index % 2 == 0)

    def spaced_merges(copied):
        pairs = [pair for pair in copied["model"]["merges"] if not any(" " in piece for piece in pair)]
        copied["model"]["merges"] = [" ".join(pair) for pair in pairs]

    def holes(copied):
        for byte in range(0x90, 0xC8):
            old = copied["model"]["vocab"].pop(f"<0x{byte:02X}>")
            copied["model"]["vocab"][f"<hole{byte}>"] = old

    def template(copied):
        ids = copied["model"]["vocab"]
        token = lambda name: {"SpecialToken": {"id": name, "type_id": 0}}
        copied["post_processor"].update(
            single=[token("<bos>"), {"Sequence": {"id": "A", "type_id": 0}}, token("<eos>")],
            special_tokens={name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in ("<bos>", "<eos>")})

    yield changed("lstrip", lambda d: flags(d, lstrip=True))
    yield changed("rstrip", lambda d: flags(d, rstrip=True))
    yield changed("normalized", lambda d: flags(d, normalized=True))
    yield changed("mixed flags", mixed_flags)
    yield changed("merges as text", spaced_merges)
    yield changed("no byte fallback", lambda d: d["model"].update(byte_fallback=False))
    yield changed("no byte fallback, not fused", lambda d: d["model"].update(byte_fallback=False, fuse_unk=False))
    yield changed("no byte fallback, no unknown token", lambda d: d["model"].update(byte_fallback=False, unk_token=None))
    yield changed("holes in the byte fallback", holes)
    yield changed("holes in the byte fallback, not fused", lambda d: (holes(d), d["model"].update(fuse_unk=False)))
    yield changed("ignore_merges", lambda d: d["model"].update(ignore_merges=True))
    yield changed("no pre-tokenizer", lambda d: d.update(pre_tokenizer=None))
    yield changed("merges backwards", lambda d: d["model"]["merges"].reverse())
    yield changed("no added tokens", lambda d: d.update(added_tokens=[]))
    yield changed("template", template)


def ask(dump, file, requests):
    lines = "\n".join(json.dumps(request) for request in requests) + "\n"
    result = subprocess.run([dump, file], input=lines, capture_output=True, text=True, encoding="utf-8")
    if result.returncode != 0:
        sys.exit(f"tokenizer_dump {file}: {result.stderr.strip()}")
    answers = [json.loads(line) for line in result.stdout.split("\n") if line]
    assert len(answers) == len(requests), f"{len(answers)} answers for {len(requests)} requests"
    return answers


def compare(name, dump, file, count, seed):
    """Number of differences, the first of them printed."""
    judge = Tokenizer.from_file(str(file))
    rng = random.Random(seed)
    document = json.loads(Path(file).read_text(encoding="utf-8"))
    added = [token["content"] for token in document["added_tokens"]] or ["<bos>", "\n\n"]
    byte_ids = [judge.token_to_id(f"<0x{b:02X}>") for b in range(256)]
    byte_ids = [i for i in byte_ids if i is not None]
    requests, expected = [], []
    for _ in range(count):
        text, special = random_text(rng, added), rng.random() < 0.3
        ids = judge.encode(text, add_special_tokens=special).ids
        requests.append({"encode": text, "special": special})
        expected.append(ids)
        skip = rng.random() < 0.5
        for sequence in (ids, random_ids(rng, judge.get_vocab_size(), byte_ids)):
            requests.append({"decode": sequence, "skip_special": skip})
            expected.append(judge.decode(sequence, skip_special_tokens=skip))
    wrong = [(q, a, e) for q, a, e in zip(requests, ask(dump, file, requests), expected) if a != e]
    print(f"{name}: {len(requests)} comparisons, {len(wrong)} differences")
    for request, answer, right in wrong[:3]:
        print(f"  {json.dumps(request)}\n    tokenizers {json.dumps(right)}\n    lockstep   {json.dumps(answer)}")
    return len(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump", required=True)
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("files", nargs="+", type=Path)
    args = parser.parse_args()
    wrong = 0
    for file in args.files:
        wrong += compare(file.parent.name, args.dump, file, args.count, args.seed)
    document = json.loads(args.files[0].read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        for name, changed in variants(document):
            file = Path(folder) / "tokenizer.json"
            file.write_text(json.dumps(changed, ensure_ascii=False), encoding="utf-8")
            wrong += compare(name, args.dump, file, args.count // 4, args.seed)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
