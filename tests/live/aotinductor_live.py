#!/usr/bin/env python3
"""Compiles a small module with AOTInductor and writes what PyTorch itself computes with it.

    python tests/live/aotinductor_live.py FOLDER

Writes model.pt2, inputs.safetensors and expected.safetensors (eager mode).
"""

import sys
from pathlib import Path

import torch
from safetensors.torch import save_file


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = torch.nn.Linear(8, 16)
        self.down = torch.nn.Linear(16, 8)

    def forward(self, hidden: torch.Tensor, scale: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        inner = torch.nn.functional.silu(self.up(hidden))
        return hidden + scale * self.down(inner), inner.sum(-1)


def main() -> None:
    folder = Path(sys.argv[1])
    torch.manual_seed(0)
    module = Block().eval()
    inputs = {"hidden": torch.randn(3, 8), "scale": torch.tensor([0.5])}
    with torch.inference_mode():
        output, inner_sum = module(inputs["hidden"], inputs["scale"])
    save_file(inputs, folder / "inputs.safetensors")
    save_file({"output": output.clone(), "inner_sum": inner_sum.clone()}, folder / "expected.safetensors")
    program = torch.export.export(module, (inputs["hidden"], inputs["scale"]))
    torch._inductor.aoti_compile_and_package(program, package_path=str(folder / "model.pt2"))


if __name__ == "__main__":
    main()
