#!/usr/bin/env python3
"""Record what transformers makes of chats with a checkpoint's template.

    python tools/record_chat_cases.py --checkpoint pipelines/data/shapes-gemma4 --out tests/data/tokenizer/chat_cases.json

Each case holds the messages as given, the options, and the text of apply_chat_template(tokenize=False).
"""

import argparse
import hashlib
import itertools
import json
from pathlib import Path

import transformers
from transformers import GemmaTokenizer


def text(content):
    return {"type": "text", "text": content}


IMAGE, AUDIO, VIDEO = ({"type": kind} for kind in ("image", "audio", "video"))

CHATS = [
    [("user", "Hello there.")],
    [("user", "")],
    [("user", "  \n trimmed \t\n ")],
    [("user", "inner  spaces \n\n stay")],
    # Everything that str.strip takes as white space and the neighbours that it leaves alone.
    [("user", "\u001c\u001d\u001e\u001f\u0085\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000x\u3000\u001f")],
    [("user", "\u200b\u180e\ufeffx\u2060\u200b")],
    [("user", "\u0000x\u0000")],
    [("system", "Answer in one word."), ("user", "What shape is red?")],
    [("system", "  spaced  "), ("user", "Hi")],
    [("developer", "Be brief."), ("user", "Hi")],
    [("system", "Only a system turn.")],
    [("user", "first"), ("system", "a late system turn"), ("developer", "a late developer turn")],
    [("user", "What is this?"), ("assistant", "A circle."), ("user", "And now?")],
    [("user", "What is this?"), ("model", " A square. \n"), ("user", "And now?")],
    [("user", "q"), ("assistant", "<|channel>thought\nlet me see<channel|>It is red."), ("user", "why?")],
    [("user", "q"), ("assistant", "before <|channel>a<channel|> between <|channel>b<channel|> after ")],
    [("user", "q"), ("assistant", "open <|channel>never closed")],
    [("user", "q"), ("assistant", "closed<channel|> never opened")],
    [("user", "q"), ("assistant", "<|channel>a<|channel>b<channel|>c<channel|><channel|>d")],
    [("user", "q"), ("assistant", "<|channel>all<channel|>")],
    [("user", "<|channel>a user's stays<channel|> here")],
    [("assistant", "starts with the model")],
    [("tool", "an unknown role"), ("", "an empty role")],
    [("user", [IMAGE, text("Describe the image.")])],
    [("user", [text(" Compare "), IMAGE, text(" with \n"), IMAGE])],
    [("user", [IMAGE, IMAGE])],
    [("user", [AUDIO, text("Transcribe."), VIDEO])],
    [("user", [])],
    [("system", [text(" You see "), text(" pictures. ")]), ("user", [IMAGE, text("?")])],
    [("user", [text("q")]), ("assistant", [text(" <|channel>x<channel|> y "), text(" z ")]), ("user", "r")],
    [("user", "<|image|> written out <turn|> and <bos>")],
    [("user", "日本語 \U0001f600 é é")],
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path)
    args = parser.parse_args()
    tokenizer = GemmaTokenizer.from_pretrained(args.checkpoint)
    cases = []
    for chat, generate, think in itertools.product(CHATS, (True, False), (False, True)):
        messages = [{"role": role, "content": content} for role, content in chat]
        cases.append({"messages": messages, "add_generation_prompt": generate, "enable_thinking": think,
                      "text": tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=generate,
                                                            enable_thinking=think)})
    template = (args.checkpoint / "chat_template.jinja").read_bytes()
    document = {"environment": {"transformers": transformers.__version__},
                "template_sha256": hashlib.sha256(template).hexdigest(), "cases": cases}
    args.out.write_text(json.dumps(document, indent=1) + "\n")
    print(f"{len(cases)} chats")


if __name__ == "__main__":
    main()
