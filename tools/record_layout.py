#!/usr/bin/env python3
"""Record which tensors transformers' Gemma 4 model has for a config.json: the judge of the checkpoint loader.

    python tools/record_layout.py --out tests/data/layout/e2b.json CONFIG.json
    python tools/record_layout.py --out tests/data/layout/e2b.json --preset e2b

Writes {"config": …, "tensors": {name: shape}}: the state dict of Gemma4ForConditionalGeneration, built on the meta device
(no memory), without the output table that is tied to the embedding. The presets are the published text and vision
dimensions of E2B and E4B, without the audio tower, in Google's spelling of the configuration.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

TEXT = {
    "e2b": dict(hidden_size=1536, intermediate_size=6144, num_hidden_layers=35, num_key_value_heads=1,
                num_kv_shared_layers=20, use_double_wide_mlp=True, period=5),
    "e4b": dict(hidden_size=2560, intermediate_size=10240, num_hidden_layers=42, num_key_value_heads=2,
                num_kv_shared_layers=18, use_double_wide_mlp=False, period=6),
}


def preset(name):
    text = dict(TEXT[name])
    period = text.pop("period")
    layers = range(1, text["num_hidden_layers"] + 1)
    text.update(
        model_type="gemma4_text", vocab_size=262144, num_attention_heads=8, head_dim=256, global_head_dim=512,
        num_global_key_value_heads=None, attention_k_eq_v=False, hidden_activation="gelu_pytorch_tanh",
        rms_norm_eps=1e-6, max_position_embeddings=131072, sliding_window=512,
        layer_types=["full_attention" if i % period == 0 else "sliding_attention" for i in layers],
        hidden_size_per_layer_input=256, vocab_size_per_layer_input=262144, final_logit_softcapping=30.0,
        use_bidirectional_attention=None, enable_moe_block=False, attention_bias=False, attention_dropout=0.0,
        pad_token_id=0, eos_token_id=1, bos_token_id=2, tie_word_embeddings=True,
        rope_parameters={
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
            "full_attention": {"rope_type": "proportional", "rope_theta": 1000000.0, "partial_rotary_factor": 0.25}})
    vision = dict(
        model_type="gemma4_vision", hidden_size=768, intermediate_size=3072, num_hidden_layers=16,
        num_attention_heads=12, num_key_value_heads=12, head_dim=64, global_head_dim=64,
        hidden_activation="gelu_pytorch_tanh", rms_norm_eps=1e-6, patch_size=16, pooling_kernel_size=3,
        position_embedding_size=10240, default_output_length=280, use_clipped_linears=True, standardize=False,
        rope_parameters={"rope_type": "default", "rope_theta": 100.0}, max_position_embeddings=131072,
        attention_bias=False, attention_dropout=0.0)
    return dict(
        architectures=["Gemma4ForConditionalGeneration"], model_type="gemma4", dtype="bfloat16",
        image_token_id=258880, boi_token_id=255999, eoi_token_id=258882, audio_token_id=258881, boa_token_id=256000,
        eoa_token_id=258883, video_token_id=258884, eos_token_id=[1, 106], tie_word_embeddings=True,
        audio_config=None, text_config=text, vision_config=vision)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", nargs="?", type=Path, metavar="CONFIG.json")
    parser.add_argument("--preset", choices=sorted(TEXT))
    parser.add_argument("--out", required=True, type=Path)
    args = parser.parse_args()
    if (args.config is None) == (args.preset is None):
        parser.error("give either CONFIG.json or --preset")
    config = preset(args.preset) if args.preset else json.loads(args.config.read_text())

    from torchvision_compat import ensure_torchvision

    ensure_torchvision()
    import torch
    from transformers import Gemma4Config, Gemma4ForConditionalGeneration

    with torch.device("meta"):
        model = Gemma4ForConditionalGeneration(Gemma4Config.from_dict(json.loads(json.dumps(config))))
    tensors = {name: list(t.shape) for name, t in model.state_dict().items() if name != "lm_head.weight"}
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(shape)}" for name, shape in sorted(tensors.items()))
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(f'{{"config": {json.dumps(config)},\n "tensors": {{\n{lines}\n}}}}\n')
    print(f"{args.out}: {len(tensors)} tensors")


if __name__ == "__main__":
    main()
