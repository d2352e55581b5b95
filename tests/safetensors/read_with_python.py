"""Print what Hugging Face's safetensors reads from a file: one line per tensor, dtype, shape, sha256 of the bytes, name."""
import hashlib
import sys

import torch
from safetensors.torch import load_file

for name, tensor in sorted(load_file(sys.argv[1]).items()):
    if not name.startswith("__lockstep_padding__"):
        data = tensor.flatten().view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
        dtype = str(tensor.dtype).removeprefix("torch.")
        print(dtype, list(tensor.shape), hashlib.sha256(data).hexdigest(), name)
