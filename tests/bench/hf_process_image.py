"""A picture from the file to its patches with Pillow, torchvision and transformers, on one thread.

    hf_process_image.py CHECKPOINT PICTURE RUNS
    hf_process_image.py --draw FOLDER    writes picture.png and picture.jpg, 1080 x 1920
"""
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import numpy as np  # noqa: E402
from PIL import Image, ImageFilter  # noqa: E402

if sys.argv[1] == "--draw":
    y, x = np.mgrid[0:1080, 0:1920]
    noise = np.random.default_rng(1).integers(0, 96, (1080, 1920, 3))
    scene = np.stack([x * 255 // 1920, (x // 40 + y // 60) % 2 * 160, y * 255 // 1080], axis=-1)
    image = Image.fromarray((scene * 5 // 8 + noise).astype(np.uint8), "RGB").filter(ImageFilter.GaussianBlur(1.5))
    image.save(Path(sys.argv[2]) / "picture.png")
    image.save(Path(sys.argv[2]) / "picture.jpg", quality=90)
    sys.exit()

import torchvision_compat  # noqa: E402

torchvision_compat.ensure_torchvision()

import torch  # noqa: E402
from transformers import AutoProcessor  # noqa: E402

checkpoint, picture, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
torch.set_num_threads(1)
processor = AutoProcessor.from_pretrained(checkpoint).image_processor
seconds, after_decoding = [], []
for _ in range(runs):
    start = time.perf_counter()
    image = Image.open(picture)
    image.load()
    decoded = time.perf_counter()
    processor(image, max_soft_tokens=280, return_tensors="pt")
    end = time.perf_counter()
    seconds.append(end - start)
    after_decoding.append(end - decoded)
print(json.dumps({"seconds": seconds, "after_decoding": after_decoding}))
