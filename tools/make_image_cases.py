#!/usr/bin/env python3
"""Write golden results of the image processor.

    python tools/make_image_cases.py pictures --out DIR                       draw the fixture pictures
    python tools/make_image_cases.py goldens --checkpoint DIR --out DIR [--spec FILE.json] [--json-only]

`goldens` runs the checkpoint's own Gemma4ImageProcessor (torchvision class; resizing is the integer bicubic filter of
torch) on the cases of the specification and writes image_cases.json and image_cases.safetensors. For every case the
JSON holds the picture's size, the target size, the soft token count and the sha256 of four tensors; the tensors
themselves are stored where the specification asks for them, unless only the JSON is wanted:

  rgb_u8        [3,H,W]         decoded picture (grey and palette expanded, transparency laid over white)
  resized_u8    [3,h,w]
  pixel_values  [patches,768]   fp32, padded with zeros to max_soft_tokens * 9 patches
  position_ids  [patches,2]     int64 (x, y), padding -1
  pil_resized_u8                what the Pillow class gives instead (for information; it may differ by a level)

A case is {"name", "soft_tokens", "store": [...]} plus either "file" (relative to the specification) or "size": [H, W]
with "seed", a synthetic picture drawn by `synthetic` below and saved beside the output.
"""

import argparse
import hashlib
import json
import random
import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parent))
from torchvision_compat import ensure_torchvision  # noqa: E402

STATE = ensure_torchvision()
from safetensors.torch import save_file  # noqa: E402
from transformers import AutoProcessor  # noqa: E402
from transformers.models.gemma4.image_processing_pil_gemma4 import Gemma4ImageProcessorPil  # noqa: E402

SPEC = [
    {"name": "no_resize_384x384", "file": "images/two_384.png", "soft_tokens": 70, "store": ["position_ids"]},
    {"name": "wide_odd", "file": "images/wide_odd.png", "soft_tokens": 70, "store": ["resized_u8", "pixel_values", "position_ids"]},
    {"name": "tiny_up", "file": "images/tiny.png", "soft_tokens": 70, "store": ["rgb_u8", "resized_u8", "pil_resized_u8"]},
    {"name": "grey", "file": "images/grey.png", "soft_tokens": 70, "store": ["rgb_u8", "resized_u8"]},
    {"name": "rgba", "file": "images/rgba.png", "soft_tokens": 70, "store": ["rgb_u8", "resized_u8"]},
    {"name": "palette", "file": "images/palette.png", "soft_tokens": 70, "store": ["rgb_u8"]},
    {"name": "down_501x733", "size": [501, 733], "seed": 1, "soft_tokens": 70, "store": ["resized_u8"]},
    {"name": "line_1x300", "size": [1, 300], "seed": 2, "soft_tokens": 70, "store": ["resized_u8"]},
    {"name": "tall_211x37", "size": [211, 37], "seed": 3, "soft_tokens": 70, "store": []},
    {"name": "wide_odd_280", "file": "images/wide_odd.png", "soft_tokens": 280, "store": ["resized_u8", "position_ids"]},
    {"name": "down_501x733_280", "size": [501, 733], "seed": 1, "soft_tokens": 280, "store": []},
    {"name": "no_resize_672x960_280", "size": [672, 960], "seed": 4, "soft_tokens": 280, "store": []},
]


def synthetic(height, width, seed):
    """Gradients, sharp edges and a patch of noise: exercises rounding and the overshoot of the cubic filter."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    red = 127 + 120 * np.sin(x / 17.0 + seed)
    green = 255 * ((x // 13 + y // 9 + seed) % 2)
    blue = 255 * (y + 1) / (height + 1)
    image = np.stack([red, green, blue], axis=-1)
    noise = np.random.default_rng(seed).integers(0, 256, (max(1, height // 4), max(1, width // 4), 3))
    image[: noise.shape[0], : noise.shape[1]] = noise
    return Image.fromarray(image.clip(0, 255).astype(np.uint8), "RGB")


def pictures(out):
    from make_shapes_checkpoint import make_scene

    out.mkdir(parents=True, exist_ok=True)

    def scene(seed, size, count):
        return make_scene(random.Random(seed), count=count, size=size)[0]

    scene(101, (384, 384), 2).save(out / "two_384.png")
    scene(102, (431, 157), 3).save(out / "wide_odd.png")
    scene(103, (40, 28), 1).save(out / "tiny.png")
    scene(104, (200, 160), 2).convert("L").save(out / "grey.png")
    rgba = scene(105, (220, 180), 1).convert("RGBA")
    alpha = np.tile(np.linspace(0, 255, 220).astype(np.uint8), (180, 1))
    rgba.putalpha(Image.fromarray(alpha, "L"))
    rgba.save(out / "rgba.png")
    scene(106, (240, 200), 2).quantize(16).save(out / "palette.png")


def sha(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def goldens(checkpoint, out, spec_path, json_only):
    spec = json.loads(spec_path.read_text()) if spec_path else SPEC
    base = spec_path.parent if spec_path else out
    out.mkdir(parents=True, exist_ok=True)
    processor = AutoProcessor.from_pretrained(checkpoint).image_processor
    tensors, cases = {}, []
    for case in spec:
        if "file" in case:
            path = base / case["file"]
        else:
            path = out / "images" / f"synthetic_{case['size'][0]}x{case['size'][1]}_{case['seed']}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            synthetic(*case["size"], case["seed"]).save(path)
        image = Image.open(path)
        seen = {}

        def run(target, key):
            original = target.aspect_ratio_preserving_resize

            def resize(image, **kwargs):
                result = original(image=image, **kwargs)
                seen[key] = np.asarray(image), np.asarray(result)
                return result

            target.aspect_ratio_preserving_resize = resize
            result = target(image, max_soft_tokens=case["soft_tokens"], return_tensors="pt")
            target.aspect_ratio_preserving_resize = original
            return result

        result = run(processor, "tv")
        pil_result = run(Gemma4ImageProcessorPil(max_soft_tokens=case["soft_tokens"]), "pil")
        rgb, resized = seen["tv"]
        pil_resized = seen["pil"][1]
        values = {"rgb_u8": rgb, "resized_u8": resized, "pixel_values": result["pixel_values"][0].numpy(),
                  "position_ids": result["image_position_ids"][0].numpy()}
        gap = np.abs(resized.astype(np.int64) - pil_resized.astype(np.int64))
        cases.append({
            "name": case["name"], "file": case.get("file", f"images/{path.name}"), "file_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "mode": image.mode, "height": image.height, "width": image.width, "soft_token_budget": case["soft_tokens"],
            "target_height": resized.shape[1], "target_width": resized.shape[2],
            "soft_tokens": int(result["num_soft_tokens_per_image"][0]), "sha256": {k: sha(v) for k, v in values.items()},
            "pil": {"max_level_difference": int(gap.max()), "levels_different": int((gap > 0).sum()),
                    "resized_u8_sha256": sha(pil_resized), "pixel_values_sha256": sha(pil_result["pixel_values"][0].numpy()),
                    "pixel_values_dtype": str(pil_result["pixel_values"].dtype).removeprefix("torch.")},
            "stored": [] if json_only else case["store"],
        })
        values["pil_resized_u8"] = pil_resized
        for key in case["store"]:
            tensors[f"{case['name']}.{key}"] = torch.from_numpy(np.ascontiguousarray(values[key]))
    tensors["rescale.torchvision"] = torch.arange(256, dtype=torch.uint8) * processor.rescale_factor
    if not json_only:
        save_file(tensors, str(out / "image_cases.safetensors"), metadata={"format": "pt"})
        (out / "image_cases.safetensors").chmod(0o644)
    import transformers

    document = {"environment": {"torch": torch.__version__, "transformers": transformers.__version__, "torchvision": STATE,
                                "image_processor": type(processor).__name__,
                                "cpu_capability": torch.backends.cpu.get_cpu_capability()},
                "cases": cases}
    (out / "image_cases.json").write_text(json.dumps(document, indent=1) + "\n")
    print(f"{len(cases)} cases, {0 if json_only else (out / 'image_cases.safetensors').stat().st_size / 1e6:.2f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("pictures", "goldens"))
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--checkpoint")
    parser.add_argument("--spec", type=Path)
    parser.add_argument("--json-only", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)
    if args.command == "pictures":
        pictures(args.out)
    else:
        goldens(args.checkpoint, args.out, args.spec, args.json_only)


if __name__ == "__main__":
    main()
