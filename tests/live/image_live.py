#!/usr/bin/env python3
"""Compare the C++ image processor with transformers' on pictures of every kind, bit for bit.

    python tests/live/image_live.py --dump build/bin/image_dump --jpeg-kinds build/bin/jpeg_kinds --checkpoint FOLDER
    python tests/live/image_live.py --jpeg-kinds build/bin/jpeg_kinds --checkpoint FOLDER --record tests/data/images

Each picture is opened by Pillow and given to the checkpoint's own image processor (torchvision class), alone and in
groups, at several budgets of soft tokens and at sizes that are enlarged, kept, shrunk, very wide and very tall. With
--record nothing is compared: a small picture of each kind is written to kinds/, and the sha256 of its decoded pixels
(RGB, rows of pixels) to kinds.json.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from torchvision_compat import ensure_torchvision  # noqa: E402

ensure_torchvision()
from PIL import Image, __version__ as pillow_version  # noqa: E402
from picture_kinds import draw, every_kind, saved  # noqa: E402
from safetensors.numpy import load_file  # noqa: E402
from transformers import AutoProcessor  # noqa: E402

BUDGETS = (70, 140, 280, 560, 1120)


def judged(processor, files, soft_tokens):
    """What transformers makes of the pictures, by the names of image_dump."""
    values, target = {}, type(processor).aspect_ratio_preserving_resize

    def resize(image, **kwargs):
        result, index = target(processor, image=image, **kwargs), len(values) // 2
        values[f"{index}.rgb_u8"] = image.permute(1, 2, 0).contiguous().numpy()
        values[f"{index}.resized_u8"] = result.contiguous().numpy()
        return result

    processor.aspect_ratio_preserving_resize = resize
    result = processor([Image.open(file) for file in files], max_soft_tokens=soft_tokens, return_tensors="pt")
    del processor.aspect_ratio_preserving_resize
    values["pixel_values"] = result["pixel_values"].numpy()
    values["position_ids"] = result["image_position_ids"].numpy()
    values["num_soft_tokens"] = np.asarray(result["num_soft_tokens_per_image"])
    return values


class Comparison:
    def __init__(self, dump, checkpoint):
        self.dump, self.checkpoint = dump, checkpoint
        self.processor = AutoProcessor.from_pretrained(checkpoint).image_processor
        self.compared = self.different = 0

    def run(self, files, soft_tokens, out):
        command = [self.dump, self.checkpoint / "processor_config.json", str(soft_tokens), out, *files]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            return [f"image_dump: {result.stderr.strip()}"]
        ours = {name: value for name, value in load_file(out).items() if not name.startswith("__lockstep_padding__")}
        theirs = judged(self.processor, files, soft_tokens)
        problems = [] if ours.keys() == theirs.keys() else [f"{sorted(ours)} against {sorted(theirs)}"]
        for name in ours.keys() & theirs.keys():
            a, b = ours[name], theirs[name]
            if a.dtype != b.dtype or a.shape != b.shape:
                problems.append(f"{name}: {a.dtype} {a.shape} against {b.dtype} {b.shape}")
            elif a.tobytes() != b.tobytes():
                gap = np.abs(a.astype(np.float64) - b.astype(np.float64))
                problems.append(f"{name}: {np.count_nonzero(gap)} of {a.size} values differ, by at most {gap.max()}")
        return sorted(problems)

    def compare(self, files, soft_tokens):
        with tempfile.TemporaryDirectory() as folder:
            problems = self.run(files, soft_tokens, Path(folder) / "out.safetensors")
        self.compared += len(files)
        self.different += bool(problems)
        for problem in problems:
            print(f"{', '.join(file.name for file in files)} at {soft_tokens}: {problem}")


def write_kinds(folder, jpeg_kinds, height, width, seed):
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in every_kind(height, width, seed):
        (folder / name).write_bytes(data)
    subprocess.run([jpeg_kinds, folder], check=True)
    return sorted(file for file in folder.iterdir() if file.suffix in (".png", ".jpg"))


def sizes(folder):
    """A picture for each size of interest, with the budgets to use."""
    rng = np.random.default_rng(7)
    for height, width, budgets in ((1, 1, BUDGETS), (48, 48, BUDGETS), (384, 384, (70, 280)), (672, 960, (280, 70)),
                                   (480, 640, BUDGETS), (1080, 1920, (70, 280, 1120)), (333, 517, BUDGETS),
                                   (900, 3, (280,)), (30, 3000, (280, 1120)), (1, 300, (280, 70)), (2785, 34, (70,)),
                                   (7, 4001, (140,)), (1537, 1023, (560,)), (3024, 4032, (280,)), (97, 193, BUDGETS)):
        image = Image.fromarray(draw(height, width, 3, 256, rng).astype(np.uint8), "RGB")
        file = folder / f"size_{height}x{width}.png"
        file.write_bytes(saved(image, "PNG", compress_level=1))
        yield file, budgets


def record(args):
    processor = AutoProcessor.from_pretrained(args.checkpoint).image_processor
    files = write_kinds(args.record / "kinds", args.jpeg_kinds, 11, 13, seed=1)
    kinds = []
    for file in files:
        rgb = judged(processor, [file], 70)["0.rgb_u8"]
        kinds.append({"file": file.name, "file_sha256": hashlib.sha256(file.read_bytes()).hexdigest(), "height": rgb.shape[0],
                      "width": rgb.shape[1], "rgb_sha256": hashlib.sha256(rgb.tobytes()).hexdigest()})
    document = {"pillow": pillow_version, "kinds": kinds}
    (args.record / "kinds.json").write_text(json.dumps(document, indent=1) + "\n")
    print(f"{len(kinds)} kinds, {sum(file.stat().st_size for file in files)} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump")
    parser.add_argument("--jpeg-kinds", required=True)
    parser.add_argument("--checkpoint", required=True, type=Path)
    parser.add_argument("--record", type=Path)
    args = parser.parse_args()
    if args.record:
        return record(args)
    comparison = Comparison(args.dump, args.checkpoint)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed, (height, width) in enumerate(((43, 61), (8, 8), (129, 50))):
            files = write_kinds(folder / str(seed), args.jpeg_kinds, height, width, seed)
            for first in range(0, len(files), 8):
                comparison.compare(files[first: first + 8], 70)
        comparison.compare(files[:3], 140)
        comparison.compare(files[-2:] + files[:1], 280)
        for file, budgets in sizes(folder):
            for budget in budgets:
                comparison.compare([file], budget)
    print(f"{comparison.compared} pictures compared, {comparison.different} calls that differ")
    sys.exit(1 if comparison.different else 0)


if __name__ == "__main__":
    main()
