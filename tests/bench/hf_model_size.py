"""The stages of a large checkpoint with transformers, timed: prints JSON for model_size.py.

    hf_model_size.py CHECKPOINT INPUTS              times
    hf_model_size.py CHECKPOINT INPUTS --prepare    writes INPUTS, what the processor makes of a prompt with a white picture
"""
import json
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import torchvision_compat  # noqa: E402

torchvision_compat.ensure_torchvision()

import torch  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402
from transformers import AutoProcessor, Gemma4ForConditionalGeneration  # noqa: E402

DECODED_TOKENS = 16
folder, file = sys.argv[1], sys.argv[2]
torch.set_num_threads(2)
torch.set_num_interop_threads(1)


def prepare():
    from PIL import Image

    picture = Image.new("RGB", (1056, 576), "white")
    made = AutoProcessor.from_pretrained(folder)(text=["<|image|>Describe the image."], images=[[picture]], return_tensors="pt")
    save_file({name: made[name].contiguous() for name in ("input_ids", "attention_mask", "pixel_values", "image_position_ids")},
              file)


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


@torch.inference_mode()
def measure():
    inputs = load_file(file)

    def open_model():
        model = Gemma4ForConditionalGeneration.from_pretrained(folder, dtype=torch.bfloat16, attn_implementation="eager").eval()
        model.get_input_embeddings()(torch.tensor([[100]]))
        return model

    opened, model = timed(open_model)
    vision, _ = timed(lambda: model.get_image_features(inputs["pixel_values"], inputs["image_position_ids"]))
    prefill, result = timed(lambda: model(**inputs, use_cache=True, logits_to_keep=1))
    mask = inputs["attention_mask"]

    def decode(token, result, mask):
        return model(input_ids=torch.tensor([[token]]), attention_mask=mask, past_key_values=result.past_key_values, use_cache=True)

    def decode_all():
        nonlocal result, mask
        for i in range(DECODED_TOKENS):
            mask = torch.cat([mask, mask.new_ones(1, 1)], dim=1)
            result = decode(101 + i, result, mask)

    mask = torch.cat([mask, mask.new_ones(1, 1)], dim=1)
    result = decode(100, result, mask)
    decoding, _ = timed(decode_all)
    print(json.dumps({"open": opened, "vision": vision, "prefill": prefill - vision, "decode": DECODED_TOKENS / decoding,
                      "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


prepare() if sys.argv[3:] == ["--prepare"] else measure()
