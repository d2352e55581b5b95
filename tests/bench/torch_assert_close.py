"""Time torch.testing.assert_close on equal bfloat16 tensors: torch_assert_close.py ELEMENTS RUNS. Prints JSON."""
import json
import sys
import time

import torch

elements, runs = int(sys.argv[1]), int(sys.argv[2])
torch.set_num_threads(2)
expected = torch.randn(elements, generator=torch.Generator().manual_seed(0)).bfloat16()
actual = expected.clone()
seconds = []
for _ in range(runs):
    start = time.perf_counter()
    torch.testing.assert_close(actual, expected)
    seconds.append(time.perf_counter() - start)
print(json.dumps({"seconds": seconds}))
