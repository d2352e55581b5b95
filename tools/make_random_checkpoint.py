#!/usr/bin/env python3
"""Write an untrained checkpoint of any (small) Gemma 4 shape, to catch sizes or layouts a port took for granted.

    python tools/make_random_checkpoint.py --out DIR [--spec FILE.json]

The specification is a JSON object:
  seed, vocab_size, tokenizer_seed, soft_tokens
  text, vision            keyword arguments of Gemma4TextConfig / Gemma4VisionConfig (vocabulary sizes are filled in)
  clip                    [low, high]: range of the random finite bounds of the clipped linears
  shared_weights          true: the file also holds k_proj, v_proj and k_norm of the KV-sharing layers, as the
                          published files do; a loader must ignore them
  published_style         spelling of config.json, see make_shapes_checkpoint.save
Without --spec the built-in "irregular" shape is written: irregular layer order, sharing that starts in the middle of a
period, no softcap, no clipping, other rope bases.
"""

import argparse
import json
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))
import make_shapes_checkpoint as shapes  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

IRREGULAR = {
    "seed": 21, "vocab_size": 900, "tokenizer_seed": 5, "soft_tokens": 70, "published_style": False,
    "shared_weights": False,
    "text": {
        "hidden_size": 80, "intermediate_size": 112, "num_hidden_layers": 7, "num_attention_heads": 4,
        "num_key_value_heads": 1, "head_dim": 24, "global_head_dim": 48, "num_kv_shared_layers": 3,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
                        "full_attention", "sliding_attention", "full_attention"],
        "use_double_wide_mlp": True, "hidden_size_per_layer_input": 12, "sliding_window": 24,
        "final_logit_softcapping": None, "rms_norm_eps": 1e-5, "max_position_embeddings": 2048,
        "rope_parameters": {"sliding_attention": {"rope_type": "default", "rope_theta": 5000.0},
                            "full_attention": {"rope_type": "proportional", "rope_theta": 200000.0,
                                               "partial_rotary_factor": 0.5}},
    },
    "vision": {"hidden_size": 36, "intermediate_size": 60, "num_hidden_layers": 2, "num_attention_heads": 3,
               "num_key_value_heads": 3, "head_dim": 12, "patch_size": 16, "pooling_kernel_size": 3,
               "position_embedding_size": 96, "use_clipped_linears": False, "standardize": False,
               "rope_parameters": {"rope_type": "axial", "rope_theta": 40.0}},
}


def build(spec):
    processor = shapes.build_processor(shapes.build_tokenizer(spec["vocab_size"], spec["tokenizer_seed"]),
                                       spec["soft_tokens"])
    ids = processor.tokenizer.convert_tokens_to_ids
    vocab = len(processor.tokenizer)
    config = shapes.Gemma4Config(
        text_config=shapes.Gemma4TextConfig(vocab_size=vocab, vocab_size_per_layer_input=vocab, **spec["text"]),
        vision_config=shapes.Gemma4VisionConfig(**spec["vision"]), audio_config=None,
        boi_token_id=ids("<|image>"), eoi_token_id=ids("<image|>"), image_token_id=ids("<|image|>"),
        video_token_id=ids("<|video|>"), boa_token_id=ids("<|audio>"), eoa_token_index=ids("<audio|>"),
        audio_token_id=ids("<|audio|>"), tie_word_embeddings=True, dtype="bfloat16")
    torch.manual_seed(spec["seed"])
    model = shapes.Gemma4ForConditionalGeneration(config)
    g = torch.Generator().manual_seed(spec["seed"])

    def uniform(tensor, low, high):
        tensor.copy_(torch.rand(tensor.shape, generator=g) * (high - low) + low)

    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            if name.endswith("embed_tokens.weight"):
                parameter.normal_(0, 0.1, generator=g)
            elif name.endswith(("embed_tokens_per_layer.weight", "position_embedding_table")):
                parameter.normal_(0, 0.4, generator=g)
            elif name.endswith("k_norm.weight"):
                uniform(parameter, 0.6 * parameter.numel() ** -0.5, 1.6 * parameter.numel() ** -0.5)
            elif "norm" in name:
                uniform(parameter, 0.3, 1.4)
            else:
                parameter.normal_(0, parameter.shape[-1] ** -0.5, generator=g)
        for name, buffer in sorted(model.named_buffers()):
            if name.endswith("layer_scalar"):
                uniform(buffer, 0.5, 1.2)
            elif name.endswith(("input_min", "output_min")):
                uniform(buffer, -spec["clip"][1], -spec["clip"][0])
            elif name.endswith(("input_max", "output_max")):
                uniform(buffer, *spec["clip"])
    return model, processor, g


def add_shared_weights(path, config, g):
    """Random k_proj, v_proj, k_norm for the layers that do not use any."""
    tensors = load_file(str(path))
    text = config.text_config
    for i in range(text.num_hidden_layers - text.num_kv_shared_layers, text.num_hidden_layers):
        layer = text.per_layer_config[i]
        prefix = f"model.language_model.layers.{i}.self_attn."
        for name, shape in (("k_proj", (layer.num_key_value_heads * layer.head_dim, text.hidden_size)),
                            ("v_proj", (layer.num_key_value_heads * layer.head_dim, text.hidden_size)),
                            ("k_norm", (layer.head_dim,))):
            tensors[f"{prefix}{name}.weight"] = torch.randn(shape, generator=g).to(torch.bfloat16)
    save_file(tensors, str(path), metadata={"format": "pt"})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--spec", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    spec = json.loads(args.spec.read_text()) if args.spec else IRREGULAR
    model, processor, g = build(spec)
    shapes.save(model, processor, args.out, spec["published_style"])
    if spec["shared_weights"]:
        add_shared_weights(args.out / "model.safetensors", model.config, g)
        (args.out / "model.safetensors").chmod(0o644)
    print(f"{args.out.name}: {sum(p.numel() for p in model.parameters())} parameters, vocabulary {len(processor.tokenizer)}")


if __name__ == "__main__":
    main()
