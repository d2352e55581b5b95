"""A picture from the file to its patches with Pillow, torchvision and transformers, on one thread.

    hf_process_image.py CHECKPOINT PICTURE RUNS
"""
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import torchvision_compat  # noqa: E402

torchvision_compat.ensure_torchvision()

import torch  # noqa: E402
from PIL import Image  # noqa: E402
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
