"""The stages of pipelines/gemma4.toml in Python with transformers, computed once and compared with nothing.

    hf_stages.py CHECKPOINT PROMPT IMAGE STAGES

STAGES is 4 (inputs, token embedding, picture, fusion) or 8 (prefill, 8 decoded and 16 generated tokens as well).
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import torchvision_compat  # noqa: E402

torchvision_compat.ensure_torchvision()

import torch  # noqa: E402
from PIL import Image  # noqa: E402
from transformers import AutoProcessor, Gemma4ForConditionalGeneration  # noqa: E402

folder, prompt, image, stages = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
torch.set_num_threads(2)
model = Gemma4ForConditionalGeneration.from_pretrained(folder, dtype=torch.bfloat16, attn_implementation="eager").eval()
processor = AutoProcessor.from_pretrained(folder)
inputs = processor(text=[prompt], images=[[Image.open(image)]], return_tensors="pt")
image_mask = inputs["input_ids"] == model.config.image_token_id

with torch.inference_mode():
    embeds = model.get_input_embeddings()(inputs["input_ids"].masked_fill(image_mask, 0))
    features = model.get_image_features(inputs["pixel_values"], inputs["image_position_ids"]).pooler_output
    features = torch.cat(list(features)) if isinstance(features, (list, tuple)) else features
    fused = embeds.masked_scatter(image_mask[..., None].expand_as(embeds), features.to(embeds.dtype))
    print(tuple(fused.shape), fused.dtype)
    if stages == 8:
        result = model(**inputs, use_cache=True)
        mask = inputs["attention_mask"]
        for _ in range(8):
            mask = torch.cat([mask, mask.new_ones(1, 1)], dim=1)
            token = result.logits[:, -1].argmax(-1, keepdim=True)
            result = model(input_ids=token, attention_mask=mask, past_key_values=result.past_key_values, use_cache=True)
        print(model.generate(**inputs, do_sample=False, max_new_tokens=16)[0, mask.shape[1] - 8:].tolist())
