#!/usr/bin/env python3
"""Write a random-weight Gemma 4 checkpoint with the exact E2B or E4B text + vision shapes, and with a synthetic tokenizer,
processor and chat template, so that transformers' AutoProcessor and Lockstep load the folder like a published one.

The file is streamed: the safetensors header is computed first, then each tensor is generated and written in
blocks, so the peak memory is a few hundred MiB whatever the model size. No audio tower is written. The weights
are random but "plausible" (linear std 0.02, norm weights near 1, k_norm about 0.125, layer_scalar from 0.02 to
0.45, finite clip bounds), so that the numbers stay finite and the model can be timed and compared. It knows
nothing: only shapes, sizes and data flow are those of the real model.

Examples
  make_e2b_random.py OUT                       # E2B, bf16, one file (about 9.6 GB)
  make_e2b_random.py OUT --model e4b --shards 4
  make_e2b_random.py OUT --layers 10           # cut version: first layers only, sharing rule kept
  make_e2b_random.py OUT --vocab 4096          # cut version: small tables
  make_e2b_random.py OUT --processor-only      # tokenizer, processor and template only: no weights, no torch
"""
import argparse
import json
import math
import os
import struct
import time

import synthetic_tokenizer

try:
    import torch
except ImportError:  # --processor-only needs none
    torch = None

TEXT = {
    "e2b": dict(hidden=1536, inter=6144, layers=35, heads=8, kv=1, shared=20, wide=True, period=5),
    "e4b": dict(hidden=2560, inter=10240, layers=42, heads=8, kv=2, shared=18, wide=False, period=6),
}
VIS = dict(hidden=768, inter=3072, layers=16, heads=12, hd=64, patch=16, pool=3, table=10240)
BLOCK = 1 << 24  # values generated at a time


def build_config(a):
    """Return (config dict, list of (name, shape, kind))."""
    t = dict(TEXT[a.model])
    shared = t["shared"]
    if a.layers % t["period"] != 0:
        raise SystemExit(f"make_e2b_random.py: --layers is {a.layers}, expected a multiple of {t['period']}: transformers "
                         "takes the last layer for a full-attention one")
    if a.layers and a.layers < t["layers"]:
        # keep the ratio of shared layers, but never share before one layer of each type exists
        keep = max(t["period"], a.layers - round(a.layers * shared / t["layers"]))
        shared, t["layers"] = max(0, a.layers - keep), a.layers
    L, H, P = t["layers"], t["hidden"], 256
    V = a.vocab
    types = ["full_attention" if (i + 1) % t["period"] == 0 else "sliding_attention" for i in range(L)]
    first_shared = L - shared
    token = synthetic_tokenizer.multimodal_ids(V)
    vl = a.vision_layers or VIS["layers"]
    cfg = {
        "architectures": ["Gemma4ForConditionalGeneration"], "model_type": "gemma4", "dtype": "bfloat16",
        "image_token_id": token["<|image|>"], "boi_token_id": token["<|image>"], "eoi_token_id": token["<image|>"],
        "audio_token_id": token["<|audio|>"], "boa_token_id": token["<|audio>"], "eoa_token_id": token["<audio|>"],
        "video_token_id": token["<|video|>"],
        "eos_token_id": [1, 106], "tie_word_embeddings": True, "vision_soft_tokens_per_image": 280,
        "audio_config": None,
        "text_config": {
            "model_type": "gemma4_text", "dtype": "bfloat16", "vocab_size": V, "hidden_size": H,
            "intermediate_size": t["inter"], "num_hidden_layers": L, "num_attention_heads": t["heads"],
            "num_key_value_heads": t["kv"], "head_dim": 256, "global_head_dim": 512,
            "num_global_key_value_heads": None, "attention_k_eq_v": False,
            "hidden_activation": "gelu_pytorch_tanh", "rms_norm_eps": 1e-6, "max_position_embeddings": 131072,
            "sliding_window": 512, "layer_types": types, "num_kv_shared_layers": shared,
            "use_double_wide_mlp": t["wide"], "hidden_size_per_layer_input": P, "vocab_size_per_layer_input": V,
            "final_logit_softcapping": 30.0, "use_bidirectional_attention": None, "enable_moe_block": False,
            "attention_bias": False, "attention_dropout": 0.0, "pad_token_id": 0, "eos_token_id": 1,
            "bos_token_id": 2, "tie_word_embeddings": True, "use_cache": True,
            "rope_parameters": {
                "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
                "full_attention": {"rope_type": "proportional", "rope_theta": 1000000.0,
                                   "partial_rotary_factor": 0.25}}},
        "vision_config": {
            "model_type": "gemma4_vision", "dtype": "bfloat16", "hidden_size": VIS["hidden"],
            "intermediate_size": VIS["inter"], "num_hidden_layers": vl,
            "num_attention_heads": VIS["heads"], "num_key_value_heads": VIS["heads"], "head_dim": VIS["hd"],
            "global_head_dim": 64, "hidden_activation": "gelu_pytorch_tanh", "rms_norm_eps": 1e-6,
            "patch_size": VIS["patch"], "pooling_kernel_size": VIS["pool"], "position_embedding_size": VIS["table"],
            "default_output_length": 280, "rope_parameters": {"rope_type": "default", "rope_theta": 100.0},
            "use_clipped_linears": True, "standardize": False, "max_position_embeddings": 131072,
            "attention_bias": False, "attention_dropout": 0.0}}

    out = []
    p = "model.language_model."
    out += [(p + "embed_tokens.weight", [V, H], "emb"), (p + "embed_tokens_per_layer.weight", [V, L * P], "ple"),
            (p + "per_layer_model_projection.weight", [L * P, H], "lin"),
            (p + "per_layer_projection_norm.weight", [P], "norm"), (p + "norm.weight", [H], "norm")]
    for i in range(L):
        q = f"{p}layers.{i}."
        D = 512 if types[i] == "full_attention" else 256
        I = t["inter"] * (2 if t["wide"] and i >= first_shared > 0 else 1)
        for n in ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
                  "post_feedforward_layernorm", "post_per_layer_input_norm"):
            out.append((q + n + ".weight", [H], "norm"))
        out.append((q + "self_attn.q_proj.weight", [t["heads"] * D, H], "lin"))
        # the shared layers carry k, v and k_norm in the published file too, though nobody may use them
        for n in ("k_proj", "v_proj"):
            out.append((q + f"self_attn.{n}.weight", [t["kv"] * D, H], "lin"))
        out += [(q + "self_attn.o_proj.weight", [H, t["heads"] * D], "lin"),
                (q + "self_attn.q_norm.weight", [D], "qnorm"), (q + "self_attn.k_norm.weight", [D], "knorm"),
                (q + "mlp.gate_proj.weight", [I, H], "lin"), (q + "mlp.up_proj.weight", [I, H], "lin"),
                (q + "mlp.down_proj.weight", [H, I], "lin"), (q + "per_layer_input_gate.weight", [P, H], "lin"),
                (q + "per_layer_projection.weight", [H, P], "lin"), (q + "layer_scalar", [1], f"scalar{i}")]
    v, h, m = "model.vision_tower.", VIS["hidden"], VIS["inter"]
    out += [(v + "patch_embedder.input_proj.weight", [h, 3 * VIS["patch"] ** 2], "lin"),
            (v + "patch_embedder.position_embedding_table", [2, VIS["table"], h], "lin")]
    for i in range(vl):
        q = f"{v}encoder.layers.{i}."
        for n in ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
                  "post_feedforward_layernorm"):
            out.append((q + n + ".weight", [h], "norm"))
        out += [(q + "self_attn.q_norm.weight", [VIS["hd"]], "qnorm"),
                (q + "self_attn.k_norm.weight", [VIS["hd"]], "knorm")]
        for n, s in (("self_attn.q_proj", [h, h]), ("self_attn.k_proj", [h, h]), ("self_attn.v_proj", [h, h]),
                     ("self_attn.o_proj", [h, h]), ("mlp.gate_proj", [m, h]), ("mlp.up_proj", [m, h]),
                     ("mlp.down_proj", [h, m])):
            out.append((q + n + ".linear.weight", s, "lin"))
            for b in ("input_min", "input_max", "output_min", "output_max"):
                out.append((q + n + "." + b, [], b))
    out.append(("model.embed_vision.embedding_projection.weight", [H, h], "lin"))
    return cfg, out


def blocks(kind, n, gen, std):
    """Yield bf16 blocks that make up n values of this kind of tensor."""
    if kind.startswith("scalar"):
        i = int(kind[6:])
        yield torch.tensor([0.02 if i == 0 else 0.2 + 0.25 * abs(math.sin(1.7 * i))]).bfloat16()
        return
    bound = {"input_min": -11.5, "input_max": 11.375, "output_min": -12.5, "output_max": 12.375}
    if kind in bound:
        yield torch.tensor([bound[kind]]).bfloat16()
        return
    mean, dev = {"norm": (1.0, 0.1), "qnorm": (1.0, 0.01), "knorm": (0.125, 0.002)}.get(kind, (0.0, std))
    while n > 0:
        k = min(n, BLOCK)
        yield torch.empty(k).normal_(mean, dev, generator=gen).bfloat16()
        n -= k


def numel(s):
    r = 1
    for x in s:
        r *= x
    return r


def write_shard(path, items, seed, std):
    header, off = {"__metadata__": {"format": "pt"}}, 0
    for name, shape, _, _ in items:
        n = 2 * numel(shape)
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [off, off + n]}
        off += n
    raw = json.dumps(header, separators=(",", ":")).encode()
    raw += b" " * (-len(raw) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(raw)))
        f.write(raw)
        for name, shape, kind, index in items:
            gen = torch.Generator().manual_seed(seed * 1000003 + index)  # per tensor: cut versions keep values
            for b in blocks(kind, numel(shape), gen, std):
                f.write(b.view(torch.int16).numpy().tobytes())
    return off


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out", help="folder to write")
    ap.add_argument("--model", choices=sorted(TEXT), default="e2b")
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--layers", type=int, default=0, help="cut the text model to this many layers")
    ap.add_argument("--vision-layers", type=int, default=0)
    ap.add_argument("--vocab", type=int, default=262144, help="at least 4096")
    ap.add_argument("--processor-only", action="store_true", help="write no weights and no config.json")
    ap.add_argument("--std", type=float, default=0.02, help="standard deviation of linear and table weights")
    ap.add_argument("--shards", type=int, default=1)
    ap.add_argument("--threads", type=int, default=2)
    a = ap.parse_args()
    os.makedirs(a.out, exist_ok=True)
    t0 = time.time()
    merges = synthetic_tokenizer.write(a.out, a.vocab, a.seed)
    print(f"tokenizer: {a.vocab} entries, {merges} merges, {time.time() - t0:.1f} s")
    if a.processor_only:
        return
    if torch is None:
        raise SystemExit("make_e2b_random.py: torch is missing; install it or use --processor-only")
    torch.set_num_threads(a.threads)
    cfg, spec = build_config(a)
    items = [(n, s, k, i) for i, (n, s, k) in enumerate(spec)]
    total = sum(2 * numel(s) for _, s, _, _ in items)
    t0 = time.time()
    with open(os.path.join(a.out, "config.json"), "w") as f:
        json.dump(cfg, f, indent=2)
    with open(os.path.join(a.out, "generation_config.json"), "w") as f:
        json.dump({"bos_token_id": 2, "pad_token_id": 0, "eos_token_id": [1, 106, 50], "do_sample": True, "temperature": 1.0,
                   "top_k": 64, "top_p": 0.95}, f, indent=2)
    if a.shards == 1:
        write_shard(os.path.join(a.out, "model.safetensors"), items, a.seed, a.std)
    else:
        groups, size, limit = [[]], 0, math.ceil(total / a.shards)
        for it in items:
            if groups[-1] and size + 2 * numel(it[1]) > limit and len(groups) < a.shards:
                groups.append([])
                size = 0
            groups[-1].append(it)
            size += 2 * numel(it[1])
        index = {"metadata": {"total_size": total}, "weight_map": {}}
        for g, part in enumerate(groups):
            name = f"model-{g + 1:05d}-of-{len(groups):05d}.safetensors"
            write_shard(os.path.join(a.out, name), part, a.seed, a.std)
            index["weight_map"].update({n: name for n, *_ in part})
        with open(os.path.join(a.out, "model.safetensors.index.json"), "w") as f:
            json.dump(index, f, indent=1)
    print(f"{a.model}: {len(items)} tensors, {total / 1e9:.3f} GB, {time.time() - t0:.1f} s")


if __name__ == "__main__":
    main()
