#!/usr/bin/env python3
"""Build and train the tiny "shapes" checkpoint used by the tests.

The result is an ordinary Hugging Face directory for Gemma4ForConditionalGeneration with every architectural
feature of the E2B model at a very small size:

  * text: 10 layers (4 sliding + 1 full, twice), the last 5 share the keys/values of layers 3 (sliding) and 4 (full)
    and have the double-wide MLP, per-layer embeddings, non-unit layer scalars, two head sizes, final softcap;
  * vision: 3 layers, 2-D rope, clipped linears with finite and asymmetric bounds, 3x3 pooling;
  * tokenizer: the Gemma form (BPE with byte fallback and fused unknowns, spaces become U+2581, no effective
    pre-tokenisation, runs of newlines/spaces/tabs as entries), about a thousand entries;
  * a processor with 70 soft tokens per image, and a chat template of the Gemma 4 turn format.

It is trained on synthetic pictures (one to three coloured shapes on a plain background) to answer short questions,
so that greedy text is meaningful and a numerical mistake in a port shows up as a wrong answer. Two stages keep this
cheap on a CPU: first the vision tower learns to name the colour and shape at every patch, then the projection and
the text model learn the answers from cached tower outputs.

Everything is seeded. Training on another CPU type or thread count gives slightly different weights; the checkpoint
in pipelines/data/shapes-gemma4 is the one that all recordings were made with; this script tells where it comes from.

    python tools/make_shapes_checkpoint.py --out shapes-gemma4 --threads 1
    python tools/make_shapes_checkpoint.py --out shapes-gemma4 --evaluate-only --eval-scenes 200
"""

import argparse
import json
import math
import os
import random
import sys
import time
from pathlib import Path

import torch
from PIL import Image, ImageDraw

sys.path.insert(0, str(Path(__file__).resolve().parent))
from torchvision_compat import ensure_torchvision  # noqa: E402

ensure_torchvision()

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers  # noqa: E402
from transformers import (  # noqa: E402
    Gemma4Config,
    Gemma4ForConditionalGeneration,
    Gemma4Processor,
    Gemma4TextConfig,
    Gemma4VisionConfig,
    GemmaTokenizer,
    GenerationConfig,
)
from transformers.modeling_outputs import BaseModelOutputWithPooling  # noqa: E402
from transformers.models.gemma4.feature_extraction_gemma4 import Gemma4AudioFeatureExtractor  # noqa: E402
from transformers.models.gemma4.image_processing_gemma4 import (  # noqa: E402
    Gemma4ImageProcessor,
    convert_image_to_patches,
)
from transformers.models.gemma4.video_processing_gemma4 import Gemma4VideoProcessor  # noqa: E402

COLOURS = {
    "red": (214, 40, 40),
    "blue": (36, 84, 214),
    "green": (34, 150, 62),
    "yellow": (240, 208, 30),
    "black": (20, 20, 24),
    "purple": (142, 52, 176),
}
SHAPES = ("circle", "square", "triangle")
BACKGROUNDS = ((255, 255, 255), (236, 236, 232), (222, 232, 242), (246, 232, 214), (228, 242, 226))
NUMBER = {1: "one", 2: "two", 3: "three"}


def draw_shape(draw, shape, colour, cx, cy, r):
    if shape == "circle":
        draw.ellipse((cx - r, cy - r, cx + r, cy + r), fill=colour)
    elif shape == "square":
        s = r * 0.9
        draw.rectangle((cx - s, cy - s, cx + s, cy + s), fill=colour)
    else:
        draw.polygon([(cx, cy - r), (cx - r, cy + r * 0.85), (cx + r, cy + r * 0.85)], fill=colour)


def make_scene(rng, count=None, size=None):
    """Returns (PIL RGB image, scene) where scene = {"items": [(colour, shape), ...], "layout": row/column/single}."""
    if size is None:
        aspect = math.exp(rng.choice((0.0, 0.0, rng.uniform(-0.7, 0.7))))
        area = rng.choice((160, 240, 384, 384, 384, 480)) ** 2
        width, height = max(48, int(math.sqrt(area * aspect))), max(48, int(math.sqrt(area / aspect)))
    else:
        width, height = size
    count = count or rng.choice((1, 2, 2, 3))
    shapes = rng.sample(SHAPES, count)
    colours = rng.sample(sorted(COLOURS), count)
    if count == 1:
        layout = "single"
    elif count == 2:
        layout = rng.choice(("row", "column")) if 0.5 < width / height < 2 else ("row" if width > height else "column")
    else:
        layout = "row" if width >= height else "column"
    image = Image.new("RGB", (width, height), rng.choice(BACKGROUNDS))
    draw, where = ImageDraw.Draw(image), []
    cols = count if layout == "row" else 1
    rows = count if layout == "column" else 1
    cell_w, cell_h = width / cols, height / rows
    for i, (shape, colour) in enumerate(zip(shapes, colours)):
        r = min(cell_w, cell_h, 0.7 * min(width, height)) * rng.uniform(0.32, 0.45)
        cx = cell_w * (i if layout == "row" else 0) + cell_w / 2 + rng.uniform(-1, 1) * (cell_w / 2 - r) * 0.6
        cy = cell_h * (i if layout == "column" else 0) + cell_h / 2 + rng.uniform(-1, 1) * (cell_h / 2 - r) * 0.6
        jitter = tuple(max(0, min(255, c + rng.randint(-10, 10))) for c in COLOURS[colour])
        draw_shape(draw, shape, jitter, cx, cy, r)
        where.append((shape, colour, cx, cy, r))
    return image, {"items": list(zip(colours, shapes)), "layout": layout, "where": where}


def patch_labels(image, scene, rows, cols):
    """For each patch of a rows x cols grid: colour class (0 = background), shape class (0 = none), whether the patch
    holds part of an outline (the only places where the shape is visible without looking far)."""
    colour, shape = torch.zeros(rows * cols, dtype=torch.long), torch.zeros(rows * cols, dtype=torch.long)
    outline = torch.zeros(rows * cols, dtype=torch.bool)
    for name, colour_name, cx, cy, r in scene["where"]:
        mask = Image.new("L", image.size, 0)
        draw_shape(ImageDraw.Draw(mask), name, 255, cx, cy, r)
        cover = torch.tensor(list(mask.resize((cols, rows), Image.BOX).tobytes())).float() / 255
        colour[cover >= 0.4] = sorted(COLOURS).index(colour_name) + 1
        shape[cover >= 0.1] = SHAPES.index(name) + 1
        outline |= (cover >= 0.1) & (cover <= 0.95)
    return colour, shape, outline


def question_answer(rng, scene, kind=None):
    items, layout = scene["items"], scene["layout"]
    kind = kind or rng.choice(("describe", "describe", "count", "colour", "shape", "exists"))
    if kind == "describe":
        names = [f"{c} {s}" for c, s in items]
        if len(items) == 1:
            answer = f"A {names[0]}."
        elif len(items) == 2:
            relation = "left of" if layout == "row" else "above"
            answer = f"A {names[0]} is {relation} a {names[1]}."
        else:
            answer = f"A {names[0]}, a {names[1]} and a {names[2]}."
        return "Describe the image.", answer
    if kind == "count":
        n = len(items)
        return "How many shapes are there?", f"There {'is' if n == 1 else 'are'} {NUMBER[n]} shape{'' if n == 1 else 's'}."
    if kind == "colour":
        shape = rng.choice(SHAPES)
        found = [c for c, s in items if s == shape]
        return f"What colour is the {shape}?", f"The {shape} is {found[0]}." if found else f"There is no {shape}."
    if kind == "shape":
        colour, shape = rng.choice(items)
        return f"What shape is {colour}?", f"The {colour} shape is a {shape}."
    if rng.random() < 0.5:
        colour, shape = rng.choice(items)
    else:
        colour, shape = rng.choice(sorted(COLOURS)), rng.choice(SHAPES)
    return f"Is there a {colour} {shape}?", "Yes." if (colour, shape) in items else "No."


BASE = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "[multimodal]"]
CONTROL = ["<|tool>", "<tool|>", "<|tool_call>", "<tool_call|>", "<|tool_response>", "<tool_response|>", '<|"|>',
           "<|think|>", "<|channel>", "<channel|>", "<|turn>", "<turn|>"]
MULTIMODAL = ["<|image>", "<|audio>", "<|image|>", "<|audio|>", "<image|>", "<audio|>", "<|video|>"]
TAGS = ["<table>", "</table>", "<b>", "</b>", "<code>", "</code>"]
SPACE = "\u2581"

CORPUS = """
The quick brown fox jumps over the lazy dog while seven wizards quietly mix a jug of boxed liquor.
A picture shows coloured shapes on a plain background, and a question asks what is there.
system user model thought assistant developer answer the question about the picture
You are a helpful assistant that describes pictures in short sentences. Please answer briefly.
Numbers such as 0 1 2 3 4 5 6 7 8 9 10 12 16 32 64 100 128 256 512 1024 2048 and 3.14159 are common.
def main(argc, argv): return {"key": [1, 2, 3], 'value': None}  # comment; x += y * (z - 1) / 2 % 5
for (int i = 0; i < n; ++i) { sum += a[i] << 2 | b[i] & 0xff ^ ~c[i]; } // done? yes! no @ home $5 100%
Hello world, hello there, how are you today? I am fine, thank you. Where is the tall green tree?
Little by little the rain stopped, and the children went outside again to look for the rainbow.
He said that she would be going to the other side of the river with them before the night.
Verification compares every tensor of the reference with the tensor of the runtime, step after step.
Windows, masks, caches, embeddings and projections must be equal; otherwise the first difference is reported.
Çà et là, élève, naïve, coöperate, über, straße, señor, año, łódź, ångström, Ελληνικά, русский язык
""".strip()
EXTRA_CHARS = "äöüßéèêëàâçñíóúåøłżÄÖÜ€£°±×÷–—…‘’“”•→←✓αβγπΩабвгдежзийклмнопрстуя日本語中文字图片红蓝绿色圆方形한국어あいうえおアイウ😀🎉👍🔴🔵🟢"


def corpus(seed):
    rng = random.Random(seed)
    lines = []
    for _ in range(600):
        scene = {"layout": rng.choice(("row", "column"))}
        n = rng.choice((1, 2, 3))
        scene["items"] = list(zip(rng.sample(sorted(COLOURS), n), rng.sample(SHAPES, n)))
        lines += list(question_answer(rng, scene))
    return lines + CORPUS.splitlines() * 8


def build_tokenizer(vocab_size, seed):
    """A tokenizer of exactly the Gemma form. Returns a tokenizers.Tokenizer."""
    lines = corpus(seed)
    # Learn pieces with a splitting pre-tokenizer so that no piece crosses a space, as SentencePiece does. The final
    # tokenizer does not split: the whole text is one BPE word.
    runs = ["\n" * n for n in range(1, 32)] + [SPACE * n for n in range(2, 32)] + ["\t" * n for n in range(1, 9)]
    reserved = BASE + CONTROL + runs + TAGS + [f"<0x{b:02X}>" for b in range(256)]
    learner = Tokenizer(models.BPE())
    learner.normalizer = normalizers.Replace(" ", SPACE)
    learner.pre_tokenizer = pre_tokenizers.Split(SPACE, behavior="merged_with_next")
    room = vocab_size - len(reserved) - len(MULTIMODAL)
    alphabet = sorted(set("".join(lines) + EXTRA_CHARS + SPACE + "".join(map(chr, range(33, 127)))) - {" ", "\n"})
    learner.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=room, initial_alphabet=alphabet,
                                                          show_progress=False))
    learned = [t for t, _ in sorted(learner.get_vocab().items(), key=lambda kv: kv[1])]
    pieces = [t for t in learned if len(t) > 1 and t not in reserved]
    chars = [t for t in learned if len(t) == 1 and t not in reserved]
    vocab = {}
    for token in reserved + pieces + chars + MULTIMODAL:
        vocab.setdefault(token, len(vocab))
    # Merges as the SentencePiece conversion makes them: every split of every piece into two vocabulary entries, best
    # score first; the user-defined runs share the top score and are ordered by the length of their left part.
    score = {piece: -(rank + 1) for rank, piece in enumerate(pieces)}
    score.update({run: 0 for run in runs if len(run) > 1})
    merges = []
    for piece, value in score.items():
        for cut in range(1, len(piece)):
            left, right = piece[:cut], piece[cut:]
            if left in vocab and right in vocab:
                merges.append((value, left, right))
    merges.sort(key=lambda m: (m[0], len(m[1]), len(m[2])), reverse=True)
    tok = Tokenizer(models.BPE(vocab=vocab, merges=[(l, r) for _, l, r in merges], unk_token="<unk>", fuse_unk=True,
                               byte_fallback=True))
    tok.normalizer = normalizers.Replace(" ", SPACE)
    tok.pre_tokenizer = pre_tokenizers.Split(" ", behavior="merged_with_previous", invert=False)
    tok.decoder = decoders.Sequence([decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()])
    special = [t for t in BASE[:4] + CONTROL + MULTIMODAL]
    plain = ["<mask>", "[multimodal]"] + runs + TAGS
    order = sorted(special + plain, key=lambda t: vocab[t])
    for token in order:
        add = tok.add_special_tokens if token in special else tok.add_tokens
        add([AddedToken(token, normalized=False, special=token in special)])
    return tok


CHAT_TEMPLATE = r"""
{#- Turn format: bos, then for each message <|turn>role, newline, content, <turn|>, newline. -#}
{%- macro render(content) -%}
    {%- if content is string -%}
        {{- content | trim -}}
    {%- else -%}
        {%- for part in content -%}
            {%- if part.type == 'text' -%}{{- part.text | trim -}}
            {%- elif part.type == 'image' -%}{{- '<|image|>' -}}
            {%- elif part.type == 'audio' -%}{{- '<|audio|>' -}}
            {%- elif part.type == 'video' -%}{{- '<|video|>' -}}
            {%- endif -%}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro -%}
{%- macro without_thoughts(text) -%}
    {%- set ns = namespace(out='') -%}
    {%- for piece in text.split('<channel|>') -%}
        {%- set ns.out = ns.out + piece.split('<|channel>')[0] -%}
    {%- endfor -%}
    {{- ns.out | trim -}}
{%- endmacro -%}
{{- bos_token -}}
{%- set turns = messages -%}
{%- set has_system = messages and messages[0].role in ['system', 'developer'] -%}
{%- if has_system or enable_thinking -%}
    {{- '<|turn>system\n' -}}
    {%- if enable_thinking -%}{{- '<|think|>' -}}{%- endif -%}
    {%- if has_system -%}
        {{- render(messages[0].content) -}}
        {%- set turns = messages[1:] -%}
    {%- endif -%}
    {{- '<turn|>\n' -}}
{%- endif -%}
{%- for message in turns -%}
    {%- set role = 'model' if message.role == 'assistant' else message.role -%}
    {{- '<|turn>' + role + '\n' -}}
    {%- if role == 'model' -%}
        {{- without_thoughts(render(message.content)) -}}
    {%- else -%}
        {{- render(message.content) -}}
    {%- endif -%}
    {{- '<turn|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<|turn>model\n' -}}
{%- endif -%}
""".strip() + "\n"

NAMED_TOKENS = {
    "image_token": "<|image|>", "boi_token": "<|image>", "eoi_token": "<image|>",
    "audio_token": "<|audio|>", "boa_token": "<|audio>", "eoa_token": "<audio|>",
    "sot_token": "<|turn>", "eot_token": "<turn|>", "soc_token": "<|channel>", "eoc_token": "<channel|>",
    "think_token": "<|think|>", "escape_token": '<|"|>', "std_token": "<|tool>", "etd_token": "<tool|>",
    "stc_token": "<|tool_call>", "etc_token": "<tool_call|>", "str_token": "<|tool_response>",
    "etr_token": "<tool_response|>",
}


def build_processor(tokenizer_object, soft_tokens=70):
    tokenizer = GemmaTokenizer(
        vocab=tokenizer_object.get_vocab(with_added_tokens=True),
        merges=[tuple(m) for m in json.loads(tokenizer_object.to_str())["model"]["merges"]],
        bos_token="<bos>", eos_token="<eos>", unk_token="<unk>", pad_token="<pad>", mask_token="<mask>",
        add_bos_token=False, padding_side="left", extra_special_tokens=dict(NAMED_TOKENS), model_max_length=4096,
        clean_up_tokenization_spaces=False,
    )
    # Added tokens (runs, tags, control tokens) exactly as declared in the tokenizer object.
    declared = json.loads(tokenizer_object.to_str())["added_tokens"]
    for entry in sorted(declared, key=lambda e: e["id"]):
        token = AddedToken(entry["content"], normalized=False, special=entry["special"])
        (tokenizer._tokenizer.add_special_tokens if entry["special"] else tokenizer._tokenizer.add_tokens)([token])
    image_processor = Gemma4ImageProcessor(max_soft_tokens=soft_tokens)
    return Gemma4Processor(
        feature_extractor=Gemma4AudioFeatureExtractor(), image_processor=image_processor, tokenizer=tokenizer,
        video_processor=Gemma4VideoProcessor(), chat_template=CHAT_TEMPLATE, image_seq_length=soft_tokens,
    )


LAYER_SCALARS = [0.8125, 0.9375, 1.125, 0.71875, 1.0625, 0.90625, 1.1875, 0.84375, 0.96875, 0.78125]


def cosine_patch_filters(patch, width, generator):
    """Start the patch projection from low-frequency cosine patterns per colour channel: edges are visible at once."""
    grid = (torch.arange(patch) + 0.5) * math.pi / patch
    waves = sorted(((u, v) for u in range(patch) for v in range(patch)), key=lambda w: (w[0] + w[1], w))
    filters = torch.randn(width, patch, patch, 3, generator=generator) * 0.01
    for i in range(width):
        u, v = waves[i // 3]
        filters[i, :, :, i % 3] += torch.outer((u * grid).cos(), (v * grid).cos()) * (1 if u + v == 0 else 4) / patch**2
    return filters.reshape(width, -1)


def build_model(processor, seed):
    ids = processor.tokenizer.convert_tokens_to_ids
    vocab = len(processor.tokenizer)
    text = Gemma4TextConfig(
        vocab_size=vocab, vocab_size_per_layer_input=vocab, hidden_size=128, intermediate_size=256,
        num_hidden_layers=10, num_attention_heads=4, num_key_value_heads=1, head_dim=32, global_head_dim=64,
        layer_types=(["sliding_attention"] * 4 + ["full_attention"]) * 2, num_kv_shared_layers=5,
        use_double_wide_mlp=True, hidden_size_per_layer_input=16, sliding_window=64, final_logit_softcapping=30.0,
        max_position_embeddings=4096,
    )
    vision = Gemma4VisionConfig(
        hidden_size=64, intermediate_size=160, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=4,
        head_dim=16, patch_size=16, pooling_kernel_size=3, position_embedding_size=216, use_clipped_linears=True,
        standardize=False, max_position_embeddings=4096,
    )
    config = Gemma4Config(
        text_config=text, vision_config=vision, audio_config=None,
        boi_token_id=ids("<|image>"), eoi_token_id=ids("<image|>"), image_token_id=ids("<|image|>"),
        video_token_id=ids("<|video|>"), boa_token_id=ids("<|audio>"), eoa_token_index=ids("<audio|>"),
        audio_token_id=ids("<|audio|>"), tie_word_embeddings=True, dtype="bfloat16",
    )
    torch.manual_seed(seed)
    config._attn_implementation = "sdpa"
    model = Gemma4ForConditionalGeneration(config)
    g = torch.Generator().manual_seed(seed + 1)
    with torch.no_grad():
        lm, vt = model.model.language_model, model.model.vision_tower
        lm.embed_tokens.weight.normal_(0, 0.06, generator=g)
        lm.embed_tokens_per_layer.weight.normal_(0, 0.15, generator=g)
        for i, layer in enumerate(lm.layers):
            layer.layer_scalar.fill_(LAYER_SCALARS[i])
            for name in ("post_attention_layernorm", "post_feedforward_layernorm", "post_per_layer_input_norm"):
                getattr(layer, name).weight.fill_(0.3)
            if hasattr(layer.self_attn, "k_norm"):
                layer.self_attn.k_norm.weight.fill_(layer.self_attn.head_dim**-0.5)
        vt.patch_embedder.position_embedding_table.normal_(0, 0.3, generator=g)
        vt.patch_embedder.input_proj.weight.copy_(cosine_patch_filters(vision.patch_size, vision.hidden_size, g))
        for layer in vt.encoder.layers:
            layer.self_attn.k_norm.weight.fill_(0.25)
            layer.post_attention_layernorm.weight.fill_(0.3)
            layer.post_feedforward_layernorm.weight.fill_(0.3)
        for module in model.modules():  # ordinary linear layers: variance-preserving
            if isinstance(module, torch.nn.Linear) and module is not model.lm_head:
                if module is not vt.patch_embedder.input_proj:
                    module.weight.normal_(0, 0.8 * module.in_features**-0.5, generator=g)
    return model


def bf16_step_up(value):
    """The bf16 number one step further from zero than `value`."""
    t = torch.tensor(value, dtype=torch.bfloat16)
    return float((t.view(torch.int16) + 1).view(torch.bfloat16))


def calibrate_clips(model, pixel_batches, quantile):
    """Finite bounds from observed activations, so that clipping bites on a small fraction of values.
    As in the released models the bounds are not symmetric: the lower one is one or two bf16 steps larger in size."""
    from transformers.models.gemma4.modeling_gemma4 import Gemma4ClippableLinear

    linears = {n: m for n, m in model.model.vision_tower.named_modules() if isinstance(m, Gemma4ClippableLinear)}
    seen = {n: ([], []) for n in linears}
    hooks = []
    for name, module in linears.items():

        def observe(m, i, o, name=name):
            seen[name][0].append(i[0].abs().flatten()[::7])
            seen[name][1].append(o.abs().flatten()[::7])

        hooks.append(module.linear.register_forward_hook(observe))
    with torch.no_grad():
        for pixels, positions in pixel_batches:
            model.model.get_image_features(pixels, positions, return_dict=True)
    for h in hooks:
        h.remove()

    def bound(chunks):
        x = torch.cat(chunks)
        k = max(1, int(x.numel() * (1 - quantile)))
        return float(torch.topk(x, k).values[-1].to(torch.bfloat16))

    for name, module in linears.items():
        parent, leaf = name.rsplit(".", 1)
        group = {"q_proj": ("q_proj", "k_proj", "v_proj"), "k_proj": ("q_proj", "k_proj", "v_proj"),
                 "v_proj": ("q_proj", "k_proj", "v_proj"), "gate_proj": ("gate_proj", "up_proj"),
                 "up_proj": ("gate_proj", "up_proj")}.get(leaf, (leaf,))
        hi_in = bound([c for leaf2 in group for c in seen[f"{parent}.{leaf2}"][0]])
        out_group = {"k_proj": ("k_proj", "v_proj"), "v_proj": ("k_proj", "v_proj")}.get(leaf, (leaf,))
        hi_out = bound([c for leaf2 in out_group for c in seen[f"{parent}.{leaf2}"][1]])
        with torch.no_grad():
            module.input_max.fill_(hi_in)
            module.input_min.fill_(-bf16_step_up(hi_in))
            module.output_max.fill_(hi_out)
            module.output_min.fill_(-bf16_step_up(bf16_step_up(hi_out)))



def prompt_text(processor, question, raw):
    if raw:  # the plain form used by static runtimes: placeholder first, no template
        return f"<|image|>{question}"
    return processor.apply_chat_template(
        [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": question}]}],
        add_generation_prompt=True, tokenize=False)


def vision_batch(processor, rng, images):
    scenes = [make_scene(rng) for _ in range(images)]
    vision = processor.image_processor([image for image, _ in scenes], return_tensors="pt")
    return vision, [scene for _, scene in scenes]


def pooled_features(model, vision):
    return model.model.vision_tower(pixel_values=vision["pixel_values"],
                                    pixel_position_ids=vision["image_position_ids"]).last_hidden_state


def small_pictures(rng, images):
    """A batch of small scenes on one patch grid, placed at random offsets of the position table."""
    rows, cols = rng.choice(((15, 15), (15, 15), (12, 18), (18, 12), (12, 21), (18, 18)))
    pixels, positions, labels = [], [], []
    for _ in range(images):
        image, scene = make_scene(rng, size=(cols * 16, rows * 16))
        chw = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8).view(rows * 16, cols * 16, 3).permute(2, 0, 1)
        pixels.append(convert_image_to_patches(chw.float() * (1 / 255), 16))
        x, y = rng.randrange(0, 28), rng.randrange(0, 28)
        grid = torch.stack(torch.meshgrid(torch.arange(cols) + x, torch.arange(rows) + y, indexing="xy"), dim=-1)
        positions.append(grid.reshape(-1, 2))
        labels.append(patch_labels(image, scene, rows, cols))
    return torch.stack(pixels), torch.stack(positions), [torch.cat(column) for column in zip(*labels)]


def vision_losses(features, heads, colour, shape, outline):
    loss, right = 0.0, []
    for head, target, weight, shown in (
            (heads[0], colour, torch.where(colour > 0, 1.0, 0.3), colour > 0),
            (heads[1], shape, torch.where(outline, 1.0, 0.15), outline)):
        logits = head(features)
        loss = loss + (torch.nn.functional.cross_entropy(logits, target, reduction="none") * weight).sum() / weight.sum()
        right.append((logits.argmax(1) == target)[shown].float().mean().item())
    return loss, right


def train_vision(model, processor, args):
    """Stage 1: patch embedder and encoder, with temporary linear heads naming colour and shape of every patch. The
    first steps see patches alone (sequences of one patch are very cheap), the others whole small pictures."""
    rng = random.Random(args.seed + 1000)
    width = model.config.vision_config.hidden_size
    heads = torch.nn.ModuleList([torch.nn.Linear(width, len(COLOURS) + 1), torch.nn.Linear(width, len(SHAPES) + 1)])
    tower, norm = model.model.vision_tower, model.model.embed_vision.embedding_pre_projection_norm
    parameters = list(tower.parameters()) + list(heads.parameters())

    def run(steps, batch_of, label, clip_at=None):
        optimizer = torch.optim.AdamW(parameters, lr=args.vision_lr, betas=(0.9, 0.98), weight_decay=0.01)
        start, average = time.time(), None
        for step in range(steps):
            set_rate(optimizer, args.vision_lr, step, steps)
            if step == clip_at:
                batches = [vision_batch(processor, random.Random(args.seed + 5000 + i), 4)[0] for i in range(3)]
                calibrate_clips(model, [(b["pixel_values"], b["image_position_ids"]) for b in batches],
                                args.clip_quantile)
                print(f"{label} step {step}: clip bounds set", flush=True)
            pixels, positions, targets = batch_of()
            padding = torch.zeros(positions.shape[:2], dtype=torch.bool)
            hidden = tower.patch_embedder(pixels, positions, padding)
            hidden = tower.encoder(inputs_embeds=hidden, attention_mask=~padding, pixel_position_ids=positions)
            loss, right = vision_losses(norm(hidden.last_hidden_state).flatten(0, 1), heads, *targets)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            now = torch.tensor([loss.item(), *right])
            average = now if average is None else 0.9 * average + 0.1 * now
            if step % 20 == 0 or step == steps - 1:
                print(f"{label} step {step} loss {average[0]:.4f} colour {average[1]:.3f} "
                      f"outline shape {average[2]:.3f} {time.time() - start:.0f}s", flush=True)

    pools = [[], []]  # patches without and with an outline
    for _ in range(60):
        pixels, positions, (colour, shape, outline) = small_pictures(rng, 8)
        for keep, pool in ((~outline, pools[0]), (outline, pools[1])):
            index = keep.nonzero()[:, 0]
            index = index[torch.randperm(len(index), generator=torch.Generator().manual_seed(len(pool)))][:300]
            pool.append((pixels.flatten(0, 1)[index], positions.flatten(0, 1)[index], colour[index], shape[index],
                         outline[index]))
    pools = [[torch.cat(column) for column in zip(*pool)] for pool in pools]
    generator = torch.Generator().manual_seed(args.seed + 1)

    def patches():
        parts = []
        for pool, count in zip(pools, (128, 384)):
            index = torch.randint(0, len(pool[0]), (count,), generator=generator)
            parts.append([column[index] for column in pool])
        pixels, positions, *targets = [torch.cat(column) for column in zip(*parts)]
        return pixels[:, None], positions[:, None], targets

    run(args.patch_steps, patches, "patch")
    run(args.vision_steps, lambda: small_pictures(rng, args.vision_images), "vision", int(args.vision_steps * 0.7))


def set_rate(optimizer, peak, step, steps):
    scale = min(1.0, (step + 1) / 40) * (0.5 + 0.5 * math.cos(math.pi * step / steps)) + 0.01
    for group in optimizer.param_groups:
        group["lr"] = peak * scale


def pack(processor, rng, scene, soft, questions, window):
    """One picture and several independent questions in one row: all questions see the picture, none sees another.
    Returns ids, labels, positions and block numbers (0 for the common prefix)."""
    tok = processor.tokenizer
    raw = rng.random() < 0.3
    picture = "<|image>" + "<|image|>" * soft + "<image|>"
    prefix = picture if raw else "<bos><|turn>user\n" + picture
    ids = tok(prefix, add_special_tokens=False)["input_ids"]
    labels, positions, blocks = [-100] * len(ids), list(range(len(ids))), [0] * len(ids)
    base = len(ids)
    for block in range(1, questions + 1):
        q, a = question_answer(rng, scene)
        p = tok(q + ("" if raw else "<turn|>\n<|turn>model\n"), add_special_tokens=False)["input_ids"]
        t = tok(("\n" if raw else "") + a + "<turn|>", add_special_tokens=False)["input_ids"]
        ids += p + t
        labels += [-100] * len(p) + t
        positions += range(base, base + len(p) + len(t))
        blocks += [block] * (len(p) + len(t))
    return ids, labels, positions, blocks


def text_batch(processor, rng, chosen, questions, window):
    rows = [pack(processor, rng, scene, features.shape[0], questions, window) for features, scene in chosen]
    width = max(len(r[0]) for r in rows)

    def stack(index, fill):
        return torch.tensor([list(r[index]) + [fill] * (width - len(r[index])) for r in rows])

    ids, labels, positions, blocks = stack(0, 0), stack(1, -100), stack(2, 0), stack(3, -1)
    same = (blocks[:, :, None] == blocks[:, None, :]) | (blocks[:, None, :] == 0)
    full = same & torch.ones(width, width, dtype=torch.bool).tril()
    sliding = full & (positions[:, :, None] - positions[:, None, :] < window)
    return ids, labels, positions, {"full_attention": full[:, None], "sliding_attention": sliding[:, None]}


def text_loss(model, chosen, batch):
    ids, labels, positions, masks = batch
    soft = [model.model.embed_vision(inputs_embeds=features) for features, _ in chosen]
    hidden = model.model(input_ids=ids, attention_mask=masks, position_ids=positions, use_cache=False,
                         mm_encoder_outputs={"image": BaseModelOutputWithPooling(pooler_output=tuple(soft))},
                         ).last_hidden_state
    keep = labels[:, 1:] != -100
    logits = torch.tanh(model.lm_head(hidden[:, :-1][keep]) / 30.0) * 30.0
    target = labels[:, 1:][keep]
    return torch.nn.functional.cross_entropy(logits, target), (logits.argmax(1) == target).float().mean().item()


def train_text(model, processor, args):
    """Stage 2: projection and text model on cached outputs of the finished tower."""
    rng = random.Random(args.seed + 2000)
    window = model.config.text_config.sliding_window
    start, cache = time.time(), []
    with torch.no_grad():
        while len(cache) < args.pictures:
            vision, scenes = vision_batch(processor, rng, 8)
            features = pooled_features(model, vision)
            sizes = vision["num_soft_tokens_per_image"].tolist()
            cache += [(f.clone(), s) for f, s in zip(features.split(sizes), scenes)]
    print(f"{len(cache)} pictures encoded in {time.time() - start:.0f}s", flush=True)
    tower = {id(p) for p in model.model.vision_tower.parameters()}
    trainable = [p for p in model.parameters() if id(p) not in tower]
    optimizer = torch.optim.AdamW(
        [{"params": [p for p in trainable if p.ndim > 1], "weight_decay": 0.01},
         {"params": [p for p in trainable if p.ndim <= 1], "weight_decay": 0.0}], lr=args.lr, betas=(0.9, 0.98))
    start, average = time.time(), None
    for step in range(args.steps):
        set_rate(optimizer, args.lr, step, args.steps)
        chosen = rng.sample(cache, args.images)
        loss, right = text_loss(model, chosen, text_batch(processor, rng, chosen, args.questions, window))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trainable, 1.0)
        optimizer.step()
        now = torch.tensor([loss.item(), right])
        average = now if average is None else 0.95 * average + 0.05 * now
        if step % 20 == 0 or step == args.steps - 1:
            print(f"text step {step} loss {average[0]:.4f} token accuracy {average[1]:.4f} {time.time() - start:.0f}s",
                  flush=True)
        if args.save_every and step and step % args.save_every == 0:
            torch.save(model.state_dict(), f"{args.out}.partial.pt")


@torch.no_grad()
def evaluate(model, processor, seed, scenes, kinds=("describe", "count", "colour", "shape", "exists"), raw=False):
    """Greedy accuracy on pictures never used in training: exact match of the whole answer, by question kind."""
    rng = random.Random(seed)
    stop = processor.tokenizer.convert_tokens_to_ids("<turn|>")
    right, total = {k: 0 for k in kinds}, {k: 0 for k in kinds}
    model.eval()
    for _ in range(scenes):
        image, scene = make_scene(rng)
        for kind in kinds:
            q, a = question_answer(rng, scene, kind)
            inputs = processor(text=prompt_text(processor, q, raw), images=[image], return_tensors="pt")
            out = model.generate(**inputs, max_new_tokens=28, do_sample=False, eos_token_id=stop)
            text = processor.tokenizer.decode(out[0, inputs["input_ids"].shape[1]:], skip_special_tokens=True)
            right[kind] += text.strip() == a
            total[kind] += 1
    return {k: right[k] / total[k] for k in kinds}



def save(model, processor, out, published_style=True):
    """Save in bf16. `published_style` writes config.json with the keys of the published files (head size of the full
    layers as `global_head_dim`, vision rope type "default"); otherwise it stays as transformers writes it."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    ids = processor.tokenizer.convert_tokens_to_ids
    eos = [ids("<eos>"), ids("<turn|>"), ids("<|tool_response>")]
    model = model.to(torch.bfloat16)
    model.config.eos_token_id = eos[:2]
    model.generation_config = GenerationConfig(bos_token_id=ids("<bos>"), pad_token_id=ids("<pad>"), eos_token_id=eos,
                                               do_sample=True, temperature=1.0, top_k=64, top_p=0.95)
    model.save_pretrained(out, safe_serialization=True)
    processor.save_pretrained(out)
    if published_style:
        path = out / "config.json"
        config = json.loads(path.read_text())
        text, vision = config["text_config"], config["vision_config"]
        per_layer = model.config.text_config.per_layer_config
        text.pop("per_layer_config", None)
        text["global_head_dim"] = per_layer[text["layer_types"].index("full_attention")].head_dim
        text["num_global_key_value_heads"] = None
        vision.pop("per_layer_config", None)
        vision["rope_parameters"] = {"rope_theta": vision["rope_parameters"]["rope_theta"], "rope_type": "default"}
        vision["default_output_length"] = processor.image_processor.max_soft_tokens
        config["vision_soft_tokens_per_image"] = processor.image_processor.max_soft_tokens
        path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
    for file in out.iterdir():
        file.chmod(0o644)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--vocab-size", type=int, default=960)
    parser.add_argument("--patch-steps", type=int, default=1200)
    parser.add_argument("--vision-steps", type=int, default=400)
    parser.add_argument("--vision-images", type=int, default=8, help="small pictures per step of the vision stage")
    parser.add_argument("--pictures", type=int, default=640, help="pictures encoded once for the text stage")
    parser.add_argument("--steps", type=int, default=1100)
    parser.add_argument("--images", type=int, default=4, help="pictures per step of the text stage")
    parser.add_argument("--questions", type=int, default=5, help="questions per picture")
    parser.add_argument("--vision-lr", type=float, default=3e-3)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--clip-quantile", type=float, default=0.9995)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--save-every", type=int, default=0, help="text steps between partial saves")
    parser.add_argument("--vision-from", help="skip the first stage: state saved after it by a run with --save-every")
    parser.add_argument("--eval-scenes", type=int, default=40)
    parser.add_argument("--evaluate-only", action="store_true", help="load --out and print its accuracy")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    if not args.evaluate_only:
        processor = build_processor(build_tokenizer(args.vocab_size, args.seed))
        model = build_model(processor, args.seed)
        print(f"vocabulary {len(processor.tokenizer)}, parameters {sum(p.numel() for p in model.parameters())}")
        if args.vision_from:
            model.load_state_dict(torch.load(args.vision_from))
        else:
            train_vision(model, processor, args)
        if args.save_every:
            torch.save(model.state_dict(), f"{args.out}.vision.pt")
        train_text(model, processor, args)
        save(model, processor, args.out)
    processor = Gemma4Processor.from_pretrained(args.out)
    model = Gemma4ForConditionalGeneration.from_pretrained(args.out, dtype=torch.bfloat16, attn_implementation="eager")
    for raw in (False, True):
        print("raw prompt" if raw else "chat prompt", evaluate(model, processor, 999, args.eval_scenes, raw=raw))


if __name__ == "__main__":
    main()
