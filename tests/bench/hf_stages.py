"""The stages of pipelines/gemma4.toml in Python with transformers: checkpoint, tokens, static inputs, token embedding.

    hf_stages.py CHECKPOINT PROMPT MAX_SEQ
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import torchvision_compat  # noqa: E402

torchvision_compat.ensure_torchvision()

import torch  # noqa: E402
from transformers import AutoProcessor, Gemma4ForConditionalGeneration  # noqa: E402

folder, prompt, max_seq = sys.argv[1], sys.argv[2], int(sys.argv[3])
torch.set_num_threads(2)
model = Gemma4ForConditionalGeneration.from_pretrained(folder, dtype=torch.bfloat16).eval()
processor = AutoProcessor.from_pretrained(folder)
text = processor.apply_chat_template([{"role": "user", "content": prompt}], tokenize=False, add_generation_prompt=True)
tokens = processor.tokenizer(text, return_tensors="pt").input_ids

input_ids = torch.full((1, max_seq), processor.tokenizer.pad_token_id)
input_ids[:, : tokens.shape[1]] = tokens
mask = torch.arange(max_seq)[None] < tokens.shape[1]
position_ids = torch.where(mask, torch.arange(max_seq)[None], 0)
with torch.inference_mode():
    embeds = model.get_input_embeddings()(input_ids)
print(tuple(embeds.shape), embeds.dtype, int(mask.sum()), int(position_ids.max()))
