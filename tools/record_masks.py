#!/usr/bin/env python3
"""Record the attention masks and position ids that transformers makes of padding on any side, with a cache before them.

    python tools/record_masks.py --checkpoint tests/data/irregular-gemma4 --out tests/data/masks/masks.safetensors

Per case: `<case>.attention_mask` int64 [B, K], `<case>.sliding` and `<case>.full` bfloat16 [B, 1, Q, keys] of a pass over the
last Q positions, and `<case>.position_ids` int64 [B, K] as generate() derives them. Rows: none padded, padded left, right, on
both sides, and with a hole.
"""

import argparse
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

sys.path.insert(0, str(Path(__file__).resolve().parent))
from torchvision_compat import ensure_torchvision  # noqa: E402

ensure_torchvision()
from transformers import DynamicCache, Gemma4Config  # noqa: E402
from transformers.generation import GenerationMixin  # noqa: E402
from transformers.masking_utils import create_masks_for_generate  # noqa: E402

# name: (positions in the cache, positions of the pass); the window of the checkpoint is 24
CASES = {"prompt": (0, 30), "short_prompt": (0, 9), "second_pass": (11, 19), "step": (20, 1), "step_23": (23, 1), "step_24": (24, 1),
         "step_beyond": (37, 1), "pass_beyond": (33, 7)}


def padding(length):
    rows = torch.ones(5, length, dtype=torch.long)
    rows[1, : length // 3] = 0
    rows[2, -(length // 4):] = 0
    rows[3, :2] = rows[3, -2:] = 0
    rows[4, 4:6] = 0
    return rows


def filled_cache(config, batch, length):
    cache = DynamicCache(config=config)
    if length:
        for index in range(config.num_hidden_layers - config.num_kv_shared_layers):
            states = torch.zeros(batch, config.num_key_value_heads, length, config.per_layer_config[index].head_dim)
            cache.update(states, states, index)
    return cache


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path)
    args = parser.parse_args()
    config = Gemma4Config.from_pretrained(args.checkpoint).get_text_config()
    config._attn_implementation = "eager"
    tensors = {}
    for name, (past, length) in CASES.items():
        mask = padding(past + length)
        ids = torch.zeros_like(mask)
        positions = GenerationMixin._prepare_position_ids_for_generation(None, ids, {"input_ids": ids, "attention_mask": mask})
        embeds = torch.zeros(len(mask), length, config.hidden_size, dtype=torch.bfloat16)
        masks = create_masks_for_generate(config=config, inputs_embeds=embeds, attention_mask=mask,
                                          past_key_values=filled_cache(config, len(mask), past), position_ids=positions[:, past:])
        tensors |= {f"{name}.attention_mask": mask, f"{name}.position_ids": positions,
                    f"{name}.sliding": masks["sliding_attention"].contiguous(), f"{name}.full": masks["full_attention"].contiguous()}
    save_file(tensors, str(args.out), metadata={"format": "pt"})
    args.out.chmod(0o644)


if __name__ == "__main__":
    main()
