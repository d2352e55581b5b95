#!/usr/bin/env python3
"""Record a step-by-step reference dump of Gemma 4 with Hugging Face transformers.

Runs a checkpoint directory (Hugging Face format) with the real `Gemma4ForConditionalGeneration` and its real
processor, on CPU, with eager attention, and writes

    OUT/reference.safetensors   tensors, named by verification step (see STEP NAMES)
    OUT/reference.json          environment, inputs, options, and one line per tensor (dtype, shape, sha256)

Nothing is re-implemented: every tensor is something transformers itself computed, taken with forward hooks, by
wrapping transformers' own functions, or by watching the torch calls made inside them.

    python tools/record_hf.py --checkpoint DIR --out DIR --chat "Describe the image." --image cat.png --dtype bf16
    python tools/record_hf.py --checkpoint DIR --out DIR --prompt "<|image|>Describe the image." --image cat.png --inner
    python tools/record_hf.py --checkpoint DIR --out DIR --chat "Hello" --chat "A longer second row" # left-padded batch

STEP NAMES
  tok.ids, tok.attention_mask, tok.mm_token_type_ids        processor output
  img.{n}.rgb_u8, img.{n}.resized_u8                        picture n after decoding to RGB / after resizing (C,H,W);
                                                            the first is absent when no resize was needed
  img.pixel_values, img.position_ids, img.num_soft_tokens   processor output
  vis.pixels, vis.patch_proj, vis.pos_emb, vis.pos_add      patch embedder (vis.pixels: 2(x-0.5) in model dtype)
  vis.rope.{cos,sin}, vis.rope.inv_freq, vis.mask           (vis.mask is absent when transformers passes no mask)
  vis.L{i}.out, vis.L{i}.<inner>                            vision layers
  vis.pool, vis.pool_valid, vis.pool_scaled, vis.scaled     pooled (model dtype), valid slots, times sqrt(width) in
                                                            fp32, stripped and cast back
  vis.proj_norm, vis.proj                                   embedder norm, projection: the soft tokens
  llm.ids, llm.embed, llm.fused, llm.position_ids           ids with placeholders replaced by pad; scaled embedding;
                                                            after soft tokens were scattered in
  llm.pad_embed                                             scaled embedding of the pad id [1,1,H], which a prompt of
                                                            one row without pictures does not have
  ple.token, ple.ctx_proj, ple.ctx_scaled, ple.ctx_norm, ple.combined
  rope.{sliding,full}.{cos,sin,inv_freq}, mask.{sliding,full}
  L{i}.out, L{i}.<inner>, final_norm
  logits_raw, logits_capped                                 last position of the prefill ([B,1,V]); with --all-logits
                                                            every position ([B,S,V])
  cache.L{i}.{k,v}                                          what the cache holds after the prefill (sliding layers
                                                            keep only the last window-1 positions)
  prefill_last.logits_capped                                the same prefill with logits_to_keep=1, as generate() does
                                                            (recent versions then run the KV-sharing layers on the last
                                                            position only, which can change the last bits)
  decode.{s}.<name>                                         teacher-forced single-token steps, s = 0, 1, ...:
                                                            ids, logits_raw, logits_capped, L{i}.out, rope.*, mask.*
  decode.tokens                                             token fed at each step (the arg max of the step before)
  cache_final.L{i}.{k,v}                                    cache after the last decode step
  gen.ids, gen.logits                                       model.generate(), greedy: new ids, and fp32 logits per step
INNER NAMES (--inner-text / --inner-vision)
  text:   in_norm q q_norm q_rope k k_norm k_rope v v_norm kv_source.k kv_source.v scores scores_masked probs ctx o
          post_attn_norm resid1 pre_ffn_norm gate up act act_mul down post_ffn_norm resid2 ple_gate ple_act ple_mul
          ple_proj ple_norm resid3 out
  vision: in_norm q k v q_norm k_norm v_norm q_rope k_rope scores probs ctx o post_attn_norm resid1 pre_ffn_norm gate
          up act act_mul down post_ffn_norm out
  q, k, v, *_norm and *_rope are [B,S,heads,D]; kv_source is the [B,kv_heads,K,D] pair that was attended to (for
  KV-sharing layers the donor's); scores are before and scores_masked after adding the mask; ctx is [B,S,heads,D].
"""

import argparse
import hashlib
import json
import os
import platform
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

SHORT = {"sliding_attention": "sliding", "full_attention": "full"}


def parse_args():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--checkpoint", required=True, help="directory with config.json, model.safetensors, tokenizer.json, ...")
    p.add_argument("--out", required=True, help="directory to write")
    p.add_argument("--chat", action="append", default=[], help="user message, put through the chat template (repeat for a batch)")
    p.add_argument("--prompt", action="append", default=[], help="raw text, used as it is (repeat for a batch)")
    p.add_argument("--system", help="system message for --chat")
    p.add_argument("--image", action="append", default=[], help="picture; all pictures belong to every row in order "
                   "(row count 1), or one per row (batch)")
    p.add_argument("--soft-tokens", type=int, help="override max_soft_tokens of the image processor")
    p.add_argument("--dtype", choices=("bf16", "fp32"), default="bf16")
    p.add_argument("--attention", default="eager", help="attn_implementation (inner attention tensors need eager)")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--cast-pixels", action="store_true", help="cast pixel_values to the model dtype before the model, as "
                   "callers do who move the whole processor output to a dtype")
    p.add_argument("--steps", type=int, default=12, help="decode steps")
    p.add_argument("--inner-text", default="none", help="text layers with inner tensors: none, all, or a list such as 0,4,5")
    p.add_argument("--inner-vision", default="none", help="the same for vision layers")
    p.add_argument("--inner", action="store_true", help="same as --inner-text all --inner-vision all")
    p.add_argument("--attn-rows", type=int, default=16, help="query rows kept of vision scores/probs (0: all)")
    p.add_argument("--skip", action="append", default=[], help="tensor name to leave out of the file (repeatable)")
    p.add_argument("--all-logits", action="store_true", help="logits of every prefill position")
    p.add_argument("--no-generate", action="store_true", help="skip the model.generate() run")
    p.add_argument("--timings", action="store_true", help="print wall times and peak memory (never stored)")
    args = p.parse_args()
    if bool(args.chat) == bool(args.prompt):
        p.error("give either --chat or --prompt")
    if args.inner:
        args.inner_text = args.inner_vision = "all"
    return args


def sha256_file(path):
    digest = hashlib.sha256()
    with open(path, "rb") as handle:
        for block in iter(lambda: handle.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def cpu_model():
    """Vendor, family and model of the CPU: math libraries choose code paths by them."""
    fields = {}
    try:
        for line in Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines():
            key, _, value = line.partition(":")
            fields[key.strip()] = value.strip()
    except OSError:
        return platform.processor()
    return "{} family {} model {}".format(fields.get("vendor_id", "?"), fields.get("cpu family", "?"), fields.get("model", "?"))


def layer_set(text, count):
    if text == "none":
        return set()
    return set(range(count)) if text == "all" else {int(x) for x in text.split(",")}


class Recorder:
    """Collects tensors under step names. `prefix` is set to "decode.{s}." during decode steps."""

    def __init__(self):
        self.tensors, self.notes, self.prefix, self.enabled = {}, {}, "", False

    def put(self, name, value, note=None):
        if not self.enabled:
            return
        name = self.prefix + name
        if name in self.tensors:
            raise RuntimeError(f"{name} recorded twice")
        self.tensors[name] = value.detach().clone().contiguous()
        if note:
            self.notes[name] = note


def main():
    args = parse_args()
    clock = {"start": time.time()}
    from torchvision_compat import ensure_torchvision

    vision_state = ensure_torchvision()
    import torch

    torch.set_num_threads(args.threads)
    import PIL
    import safetensors
    import safetensors.torch
    import tokenizers
    import transformers
    from torch.overrides import TorchFunctionMode
    from transformers import AutoProcessor, Gemma4ForConditionalGeneration
    from transformers.models.gemma4 import modeling_gemma4 as gemma4

    clock["import"] = time.time()
    dtype = {"bf16": torch.bfloat16, "fp32": torch.float32}[args.dtype]
    model = Gemma4ForConditionalGeneration.from_pretrained(
        args.checkpoint, dtype=dtype, attn_implementation=args.attention).eval()
    processor = AutoProcessor.from_pretrained(args.checkpoint)
    clock["load"] = time.time()

    rec = Recorder()
    body, text = model.model, model.model.language_model
    text_config, vision_config = model.config.text_config, model.config.vision_config
    inner_text = layer_set(args.inner_text, text_config.num_hidden_layers)
    inner_vision = layer_set(args.inner_vision, vision_config.num_hidden_layers) if vision_config else set()
    state = {"layer": None, "kind": None, "rope_calls": 0}

    def inner_on():
        wanted = inner_text if state["kind"] == "text" else inner_vision
        return rec.enabled and rec.prefix == "" and state["layer"] in wanted

    def stem():
        return f"L{state['layer']}" if state["kind"] == "text" else f"vis.L{state['layer']}"

    # ---- watching torch calls inside two transformers functions -------------------------------------------------

    class Watch(TorchFunctionMode):
        """Passes every call through unchanged and hands (name, args, result) to a callback."""

        def __init__(self, before=None, after=None):
            super().__init__()
            self.before, self.after = before, after

        def __torch_function__(self, func, types, call_args=(), kwargs=None):
            name = getattr(func, "__name__", "")
            if self.before:
                self.before(name, call_args)
            result = func(*call_args, **(kwargs or {}))
            if self.after:
                self.after(name, call_args, result)
            return result

    original_attention = gemma4.eager_attention_forward

    def recorded_attention(module, query, key, value, attention_mask, *rest, **kwargs):
        if not inner_on():
            return original_attention(module, query, key, value, attention_mask, *rest, **kwargs)
        seen = {}

        def after(name, call_args, result):
            if name == "matmul":
                seen["products"] = seen.get("products", 0) + 1
                if seen["products"] == 1:
                    seen["scores"] = result
            elif name in ("mul", "__mul__") and "scaled" not in seen and seen.get("products") == 1:
                seen["scaled"] = seen["scores"] = result
            elif name in ("add", "__add__") and seen.get("products") == 1:
                seen["masked"] = result

        with Watch(after=after):
            output, weights = original_attention(module, query, key, value, attention_mask, *rest, **kwargs)
        rows = slice(None)
        note = None
        if state["kind"] == "vision" and args.attn_rows:
            rows, note = slice(0, args.attn_rows), f"query rows 0..{args.attn_rows - 1} of {query.shape[2]}"
        else:
            rec.put(f"{stem()}.kv_source.k", key)
            rec.put(f"{stem()}.kv_source.v", value)
        rec.put(f"{stem()}.scores", seen["scores"][:, :, rows], note)
        if "masked" in seen and state["kind"] == "text":
            rec.put(f"{stem()}.scores_masked", seen["masked"])
        rec.put(f"{stem()}.probs", weights[:, :, rows], note)
        rec.put(f"{stem()}.ctx", output)
        return output, weights

    gemma4.eager_attention_forward = recorded_attention

    def recorded_rope(original, kind):
        def rope(x, *rest, **kwargs):
            result = original(x, *rest, **kwargs)
            if state["kind"] == kind and inner_on():
                rec.put(f"{stem()}.{'qk'[state['rope_calls']]}_rope", result)
                state["rope_calls"] += 1
            return result

        return rope

    # The vision function calls the text one for its two halves; the kind check keeps them apart.
    gemma4.apply_multidimensional_rope = recorded_rope(gemma4.apply_multidimensional_rope, "vision")
    gemma4.apply_rotary_pos_emb = recorded_rope(gemma4.apply_rotary_pos_emb, "text")

    # ---- hooks ---------------------------------------------------------------------------------------------------

    def out(module, name, pick=lambda o: o, prefill_only=False):
        def hook(_, __, output):
            if not (prefill_only and rec.prefix):
                rec.put(name, pick(output))

        module.register_forward_hook(hook)

    def inner_out(module, name):
        module.register_forward_hook(lambda m, i, o: rec.put(f"{stem()}.{name}", o) if inner_on() else None)

    def inner_in(module, name):
        module.register_forward_pre_hook(lambda m, i: rec.put(f"{stem()}.{name}", i[0]) if inner_on() else None)

    def wrap(owner, method, name, pick=lambda o: o):
        original = getattr(owner, method)

        def call(*call_args, **kwargs):
            result = original(*call_args, **kwargs)
            rec.put(name, pick(result))
            return result

        setattr(owner, method, call)

    # text globals
    text.embed_tokens.register_forward_pre_hook(lambda m, i: rec.put("llm.ids", i[0]))
    out(text.embed_tokens, "llm.embed")
    out(text.norm, "final_norm")

    def text_entry(module, call_args, kwargs):
        rec.put("llm.fused", kwargs["inputs_embeds"])
        rec.put("llm.position_ids", kwargs["position_ids"])
        for kind, mask in kwargs["attention_mask"].items():
            if mask is not None:
                rec.put(f"mask.{SHORT[kind]}", mask)

    text.register_forward_pre_hook(text_entry, with_kwargs=True)

    def rope_tables(module, call_args, kwargs, output):
        kind = SHORT[call_args[2] if len(call_args) > 2 else kwargs["layer_type"]]
        rec.put(f"rope.{kind}.cos", output[0])
        rec.put(f"rope.{kind}.sin", output[1])

    text.rotary_emb.register_forward_hook(rope_tables, with_kwargs=True)
    if text_config.hidden_size_per_layer_input:
        wrap(text, "get_per_layer_inputs", "ple.token")
        wrap(text, "project_per_layer_inputs", "ple.combined")
        out(text.per_layer_model_projection, "ple.ctx_proj")
        text.per_layer_projection_norm.register_forward_pre_hook(lambda m, i: rec.put("ple.ctx_scaled", i[0]))
        out(text.per_layer_projection_norm, "ple.ctx_norm")

    # text layers
    def instrument_text_layer(index, layer):
        def enter(*_):
            state.update(layer=index, kind="text", rope_calls=0)

        layer.register_forward_pre_hook(enter)
        original = layer.forward

        def forward(*call_args, **kwargs):
            def before(name, operands):
                if inner_on() and name in ("__imul__", "mul_") and operands[1] is layer.layer_scalar:
                    rec.put(f"L{index}.resid3", operands[0])

            with Watch(before=before):
                return original(*call_args, **kwargs)

        if index in inner_text:
            layer.forward = forward
            attention, mlp = layer.self_attn, layer.mlp
            inner_out(layer.input_layernorm, "in_norm")
            heads = lambda o: o.view(*o.shape[:-1], -1, attention.head_dim)  # noqa: E731
            for name in ("q", "k", "v"):
                projection = getattr(attention, f"{name}_proj", None)
                if projection is not None:
                    projection.register_forward_hook(
                        lambda m, i, o, name=name: rec.put(f"{stem()}.{name}", heads(o)) if inner_on() else None)
                if hasattr(attention, f"{name}_norm"):
                    inner_out(getattr(attention, f"{name}_norm"), f"{name}_norm")
            inner_out(attention.o_proj, "o")
            inner_out(layer.post_attention_layernorm, "post_attn_norm")
            inner_in(layer.pre_feedforward_layernorm, "resid1")
            inner_out(layer.pre_feedforward_layernorm, "pre_ffn_norm")
            inner_out(mlp.gate_proj, "gate")
            inner_out(mlp.up_proj, "up")
            inner_out(mlp.act_fn, "act")
            inner_in(mlp.down_proj, "act_mul")
            inner_out(mlp.down_proj, "down")
            inner_out(layer.post_feedforward_layernorm, "post_ffn_norm")
            if text_config.hidden_size_per_layer_input:
                inner_in(layer.per_layer_input_gate, "resid2")
                inner_out(layer.per_layer_input_gate, "ple_gate")
                inner_out(layer.act_fn, "ple_act")
                inner_in(layer.per_layer_projection, "ple_mul")
                inner_out(layer.per_layer_projection, "ple_proj")
                inner_out(layer.post_per_layer_input_norm, "ple_norm")
        out(layer, f"L{index}.out")
        layer.register_forward_hook(lambda *_: state.update(layer=None, kind=None))

    for i, layer in enumerate(text.layers):
        instrument_text_layer(i, layer)

    def keep_last(o):
        return o if args.all_logits or rec.prefix else o[:, -1:]

    out(model.lm_head, "logits_raw", keep_last)

    # vision
    clip_counts = {}
    if vision_config is not None and body.vision_tower is not None:
        tower = body.vision_tower
        tower.patch_embedder.input_proj.register_forward_pre_hook(lambda m, i: rec.put("vis.pixels", i[0]))
        out(tower.patch_embedder.input_proj, "vis.patch_proj")
        wrap(tower.patch_embedder, "_position_embeddings", "vis.pos_emb")
        out(tower.patch_embedder, "vis.pos_add")
        tower.encoder.rotary_emb.register_forward_hook(
            lambda m, i, o: (rec.put("vis.rope.cos", o[0]), rec.put("vis.rope.sin", o[1])) and None)

        def instrument_vision_layer(index, layer):
            def enter(module, call_args, kwargs):
                state.update(layer=index, kind="vision", rope_calls=0)
                if index == 0 and kwargs.get("attention_mask") is not None:
                    # Every query row holds the same values; one row is kept.
                    rec.put("vis.mask", kwargs["attention_mask"][:, :, :1], "query row 0; all rows are equal")
                    if not bool((kwargs["attention_mask"] == kwargs["attention_mask"][:, :, :1]).all()):
                        raise RuntimeError("vision mask rows differ")

            layer.register_forward_pre_hook(enter, with_kwargs=True)
            attention, mlp = layer.self_attn, layer.mlp
            if vision_config.use_clipped_linears:
                for name, module in list(attention.named_children()) + list(mlp.named_children()):
                    if not hasattr(module, "input_min"):
                        continue

                    def count(m, i, o, name=name, module=module):
                        if rec.enabled:
                            clip_counts[f"vis.L{index}.{name}"] = {
                                "input_at_min": int((i[0] <= module.input_min).sum()),
                                "input_at_max": int((i[0] >= module.input_max).sum()),
                                "output_below": int((o < module.output_min).sum()),
                                "output_above": int((o > module.output_max).sum())}

                    module.linear.register_forward_hook(count)
            if index in inner_vision:
                heads = lambda o: o.view(*o.shape[:-1], -1, attention.head_dim)  # noqa: E731
                inner_out(layer.input_layernorm, "in_norm")
                for name in ("q", "k", "v"):
                    getattr(attention, f"{name}_proj").register_forward_hook(
                        lambda m, i, o, name=name: rec.put(f"{stem()}.{name}", heads(o)) if inner_on() else None)
                    inner_out(getattr(attention, f"{name}_norm"), f"{name}_norm")
                inner_out(attention.o_proj, "o")
                inner_out(layer.post_attention_layernorm, "post_attn_norm")
                inner_in(layer.pre_feedforward_layernorm, "resid1")
                inner_out(layer.pre_feedforward_layernorm, "pre_ffn_norm")
                inner_out(mlp.gate_proj, "gate")
                inner_out(mlp.up_proj, "up")
                inner_out(mlp.act_fn, "act")
                inner_in(mlp.down_proj, "act_mul")
                inner_out(mlp.down_proj, "down")
                inner_out(layer.post_feedforward_layernorm, "post_ffn_norm")
            out(layer, f"vis.L{index}.out")
            layer.register_forward_hook(lambda *_: state.update(layer=None, kind=None))

        for i, layer in enumerate(tower.encoder.layers):
            instrument_vision_layer(i, layer)
        wrap(tower.pooler, "_avg_pool_by_positions", "vis.pool", lambda o: o[0])
        out(tower.pooler, "vis.pool_scaled", lambda o: o[0])
        out(tower.pooler, "vis.pool_valid", lambda o: o[1])
        out(tower, "vis.scaled", lambda o: o.last_hidden_state)
        out(body.embed_vision.embedding_pre_projection_norm, "vis.proj_norm")
        out(body.embed_vision, "vis.proj")

    # ---- inputs --------------------------------------------------------------------------------------------------

    rec.enabled = True
    for kind in sorted(set(text_config.layer_types)):
        rec.put(f"rope.{SHORT[kind]}.inv_freq", getattr(text.rotary_emb, f"{kind}_inv_freq"))
    if vision_config is not None and body.vision_tower is not None:
        rec.put("vis.rope.inv_freq", body.vision_tower.encoder.rotary_emb.inv_freq)

    rows = args.chat or args.prompt
    pictures = [PIL.Image.open(path) for path in args.image]
    if pictures and len(rows) > 1 and len(pictures) != len(rows):
        raise SystemExit("a batch needs one picture per row")
    per_row = [[p] for p in pictures] if len(rows) > 1 else [pictures]
    texts = []
    for index, row in enumerate(rows):
        if args.prompt:
            texts.append(row)
            continue
        content = [{"type": "image"} for _ in (per_row[index] if pictures else [])] + [{"type": "text", "text": row}]
        messages = ([{"role": "system", "content": args.system}] if args.system else []) + [{"role": "user", "content": content}]
        texts.append(processor.apply_chat_template(messages, add_generation_prompt=True, tokenize=False))

    image_processor = processor.image_processor
    counter = {"n": 0}
    if pictures and hasattr(image_processor, "aspect_ratio_preserving_resize"):
        original_resize = image_processor.aspect_ratio_preserving_resize

        def resize(image, **kwargs):
            result = original_resize(image=image, **kwargs)
            if image is not result:
                rec.put(f"img.{counter['n']}.rgb_u8", torch.as_tensor(image))
            rec.put(f"img.{counter['n']}.resized_u8", torch.as_tensor(result),
                    "no resize needed: equal to the decoded picture" if image is result else None)
            counter["n"] += 1
            return result

        image_processor.aspect_ratio_preserving_resize = resize
        original_preprocess = image_processor._preprocess

        def preprocess(*call_args, **kwargs):
            # Recent processors drop this entry from their own output; it is taken where it is made.
            result = original_preprocess(*call_args, **kwargs)
            rec.put("img.num_soft_tokens", torch.as_tensor(result["num_soft_tokens_per_image"]))
            return result

        image_processor._preprocess = preprocess
    options = {"return_tensors": "pt"}
    if args.soft_tokens:
        options["images_kwargs"] = {"max_soft_tokens": args.soft_tokens}
    inputs = processor(text=texts, images=per_row if pictures else None, **options)
    rec.put("tok.ids", inputs["input_ids"])
    rec.put("tok.attention_mask", inputs["attention_mask"])
    if "mm_token_type_ids" in inputs:
        rec.put("tok.mm_token_type_ids", inputs["mm_token_type_ids"])
    if pictures:
        rec.put("img.pixel_values", inputs["pixel_values"])
        rec.put("img.position_ids", inputs["image_position_ids"])
    batch = {k: v for k, v in inputs.items() if not k.startswith("num_soft_tokens")}
    if pictures and args.cast_pixels:
        batch["pixel_values"] = batch["pixel_values"].to(dtype)
    padded = not bool((batch["attention_mask"] == 1).all())
    if padded:  # as generate() does for a left-padded batch
        batch["position_ids"] = model._prepare_position_ids_for_generation(batch["input_ids"], dict(batch))
    clock["process"] = time.time()

    # ---- prefill, decode, generate -------------------------------------------------------------------------------

    def cache_layers(cache, name):
        for index, layer in enumerate(cache.layers):
            if getattr(layer, "keys", None) is not None:  # KV-sharing layers have placeholder entries
                rec.put(f"{name}.L{index}.k", layer.keys)
                rec.put(f"{name}.L{index}.v", layer.values)

    summary = {}
    with torch.no_grad():
        result = model(**batch, use_cache=True, logits_to_keep=0)
        rec.put("logits_capped", keep_last(result.logits))
        cache = result.past_key_values
        cache_layers(cache, "cache")
        clock["prefill"] = time.time()

        token = result.logits[:, -1].float().argmax(-1, keepdim=True)
        fed, mask = [], batch["attention_mask"]
        for step in range(args.steps):
            rec.prefix = f"decode.{step}."
            fed.append(token)
            mask = torch.cat([mask, mask.new_ones(mask.shape[0], 1)], dim=1)
            extra = {}
            if padded:
                extra["position_ids"] = (mask.long().cumsum(-1) - 1)[:, -1:]
            result = model(input_ids=token, attention_mask=mask, past_key_values=cache, use_cache=True, **extra)
            rec.put("logits_capped", result.logits)
            token = result.logits[:, -1].float().argmax(-1, keepdim=True)
        rec.prefix = ""
        if fed:
            rec.put("decode.tokens", torch.cat(fed, dim=1))
            cache_layers(cache, "cache_final")
        clock["decode"] = time.time()

        rec.enabled = False
        result = model(**batch, use_cache=True, logits_to_keep=1)
        pad = text.embed_tokens(torch.tensor([[text_config.pad_token_id or 0]]))
        rec.enabled = True
        rec.put("llm.pad_embed", pad)
        rec.put("prefill_last.logits_capped", result.logits)
        full = rec.tensors["logits_capped"][:, -1:]
        summary["prefill_last_equals_full"] = bool(torch.equal(full, result.logits))

        if not args.no_generate:
            rec.enabled = False
            generated = model.generate(**{k: v for k, v in batch.items() if k != "position_ids"}, do_sample=False,
                                       max_new_tokens=args.steps + 1, return_dict_in_generate=True, output_logits=True)
            rec.enabled = True
            new = generated.sequences[:, batch["input_ids"].shape[1]:]
            rec.put("gen.ids", new)
            rec.put("gen.logits", torch.stack(generated.logits, dim=1))
            summary["generated_text"] = [processor.tokenizer.decode(r, skip_special_tokens=False) for r in new]
            if fed:
                manual = torch.cat(fed, dim=1)[:, : new.shape[1]]
                summary["generate_equals_forced_decode"] = bool(torch.equal(manual, new[:, : manual.shape[1]])) \
                    if new.shape[0] == 1 else None
    clock["generate"] = time.time()
    # Per-step copies that only repeat other tensors are dropped from the decode part.
    for name in list(rec.tensors):
        if name.startswith("decode.") and name.split(".", 2)[-1] in ("llm.fused", "ple.ctx_proj", "ple.ctx_scaled", "ple.ctx_norm"):
            del rec.tensors[name]

    for name in args.skip:
        rec.tensors.pop(name)

    # ---- write ---------------------------------------------------------------------------------------------------

    target = Path(args.out)
    target.mkdir(parents=True, exist_ok=True)
    safetensors.torch.save_file(rec.tensors, str(target / "reference.safetensors"), metadata={"format": "pt"})
    source = Path(args.checkpoint)
    files = sorted(p for p in source.iterdir() if p.suffix in (".safetensors", ".json", ".jinja", ".model"))
    config_text = torch.__config__.show()
    onednn = next((w for w in config_text.split("\n") if "oneDNN" in w or "MKL-DNN" in w), "").strip(" -")
    template = getattr(processor, "chat_template", None)

    def describe(tensor):
        raw = tensor.view(torch.uint8) if tensor.dim() else tensor.reshape(1).view(torch.uint8)
        return {"dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape),
                "sha256": hashlib.sha256(raw.numpy().tobytes()).hexdigest()}

    document = {
        "format": 1,
        "environment": {
            "torch": torch.__version__, "torch_git": torch.version.git_version, "onednn": onednn,
            "transformers": transformers.__version__, "tokenizers": tokenizers.__version__,
            "safetensors": safetensors.__version__, "pillow": PIL.__version__,
            "torchvision": vision_state, "image_processor": type(image_processor).__name__,
            "python": platform.python_version(), "machine": platform.machine(),
            "cpu": cpu_model(), "cpu_capability": torch.backends.cpu.get_cpu_capability(),
            "ATEN_CPU_CAPABILITY": os.environ.get("ATEN_CPU_CAPABILITY"),
            "threads": torch.get_num_threads(), "mkldnn": torch.backends.mkldnn.is_available(),
            "float32_matmul_precision": torch.get_float32_matmul_precision(),
        },
        "options": {"dtype": args.dtype, "attn_implementation": model.config._attn_implementation,
                    "cast_pixels": args.cast_pixels, "steps": args.steps, "inner_text": args.inner_text,
                    "inner_vision": args.inner_vision, "all_logits": args.all_logits,
                    "soft_tokens": args.soft_tokens or getattr(image_processor, "max_soft_tokens", None)},
        "checkpoint": {"name": source.resolve().name, "sha256": {p.name: sha256_file(p) for p in files}},
        "chat_template_sha256": hashlib.sha256(template.encode()).hexdigest() if isinstance(template, str) else None,
        "inputs": {"mode": "chat" if args.chat else "raw", "system": args.system, "messages": rows, "texts": texts,
                   "images": [{"name": Path(p).name, "sha256": sha256_file(p)} for p in args.image]},
        "summary": summary,
        "clip_counts": clip_counts,
        "notes": rec.notes,
        "tensors": {name: describe(t) for name, t in sorted(rec.tensors.items())},
    }
    (target / "reference.json").write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    (target / "reference.safetensors").chmod(0o644)
    size = (target / "reference.safetensors").stat().st_size
    print(f"{target.name}: {len(rec.tensors)} tensors, {size / 1e6:.2f} MB, {json.dumps(summary, ensure_ascii=False)}")
    if args.timings:
        marks = list(clock.items())
        spans = {name: round(when - marks[i][1], 2) for i, (name, when) in enumerate(marks[1:])}
        print("seconds", spans, "peak MB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


if __name__ == "__main__":
    main()
