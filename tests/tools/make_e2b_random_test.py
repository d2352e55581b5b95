"""transformers loads what tools/make_e2b_random.py writes, cut to a small size: every weight, the processor, a forward pass."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "tools")
sys.path.insert(0, str(TOOLS))

import torchvision_compat  # noqa: E402

torchvision_compat.ensure_torchvision()

import torch  # noqa: E402
from PIL import Image  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402
from transformers import AutoProcessor, Gemma4ForConditionalGeneration  # noqa: E402


def write(folder, *flags):
    subprocess.run([sys.executable, TOOLS / "make_e2b_random.py", folder, "--vocab", "4096", *flags], check=True,
                   stdout=subprocess.DEVNULL)


class MakeE2bRandom(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def check(self, *flags):
        folder = self.folder.name
        write(folder, "--vision-layers", "1", *flags)
        model, report = Gemma4ForConditionalGeneration.from_pretrained(folder, dtype="bfloat16", output_loading_info=True)
        self.assertFalse(report["missing_keys"])
        self.assertFalse(report["mismatched_keys"])
        # The published files carry K and V of layers that share them; transformers has no place for those.
        strays = [k for k in report["unexpected_keys"] if not any(n in k for n in ("k_proj", "v_proj", "k_norm"))]
        self.assertFalse(strays)

        processor = AutoProcessor.from_pretrained(folder)
        config = model.config
        ids = processor.tokenizer.convert_tokens_to_ids
        self.assertEqual(config.image_token_id, ids("<|image|>"))
        self.assertEqual(config.boi_token_id, ids("<|image>"))
        self.assertEqual(config.eoi_token_id, ids("<image|>"))
        self.assertEqual(config.text_config.vocab_size, len(processor.tokenizer))

        prompt = processor.apply_chat_template(
            [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "What is it?"}]}],
            tokenize=False, add_generation_prompt=True)
        self.assertEqual(prompt, "<bos><|turn>user\n<|image|>What is it?<turn|>\n<|turn>model\n")
        batch = processor(text=[prompt], images=[Image.new("RGB", (96, 48), "red")], return_tensors="pt")
        with torch.inference_mode():
            logits = model(**batch).logits
        self.assertEqual(logits.shape[-1], 4096)
        self.assertTrue(torch.isfinite(logits).all())

    def test_e2b_in_one_file(self):
        self.check("--layers", "10")

    def test_e4b_in_shards(self):
        self.check("--model", "e4b", "--layers", "6", "--shards", "3")
        self.assertEqual(len(list(Path(self.folder.name).glob("*.safetensors"))), 3)

    def test_processor_only_writes_no_weights_and_the_tokenizer_reads_back_its_text(self):
        write(self.folder.name, "--processor-only")
        names = sorted(p.name for p in Path(self.folder.name).iterdir())
        self.assertEqual(names, ["chat_template.jinja", "processor_config.json", "tokenizer.json", "tokenizer_config.json"])
        tokenizer = Tokenizer.from_file(f"{self.folder.name}/tokenizer.json")
        text = "<|turn>user\nbarito  kelo\t\té 形 😀<turn|>\n"
        self.assertEqual(tokenizer.decode(tokenizer.encode(text).ids, skip_special_tokens=False), text)
        model = json.loads(Path(self.folder.name, "tokenizer.json").read_text())["model"]
        for left, right in model["merges"]:
            self.assertTrue({left, right, left + right} <= model["vocab"].keys())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
