#!/usr/bin/env python3
"""Write two stages of Gemma 4 as a TorchScript module, for docs/module_runtime.

    python docs/module_runtime/make_module.py --checkpoint pipelines/data/shapes-gemma4 --start 1 --out stages.pt
"""

import argparse
from pathlib import Path

import torch
from safetensors import safe_open


class Stages(torch.nn.Module):
    def __init__(self, table, start: int):
        super().__init__()
        self.register_buffer("table", table)
        self.register_buffer("scale", torch.tensor(table.shape[1] ** 0.5).to(table.dtype))
        self.start: int = start

    @torch.jit.export
    def token_embedding(self, input_ids):  # [1, n] -> [1, n, H]
        return self.table[input_ids] * self.scale

    @torch.jit.export
    def fuse(self, text_embeds, visual_embeds):  # [1, S, H], [V, H] -> [1, S, H]
        fused = text_embeds.clone()
        fused[0, self.start : self.start + visual_embeds.size(0)] = visual_embeds
        return fused


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", required=True, type=Path)
    parser.add_argument("--start", required=True, type=int, help="first slot of the picture")
    parser.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "float32"])
    parser.add_argument("--out", required=True, type=Path)
    args = parser.parse_args()
    with safe_open(args.checkpoint / "model.safetensors", framework="pt") as weights:
        table = weights.get_tensor("model.language_model.embed_tokens.weight")
    torch.jit.script(Stages(table.to(getattr(torch, args.dtype)), args.start)).save(str(args.out))


if __name__ == "__main__":
    main()
