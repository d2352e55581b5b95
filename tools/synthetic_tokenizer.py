"""A tokenizer of Gemma 4's form and size that knows no language, and the processor files beside it.

Form: BPE with byte fallback and fused unknowns, spaces become U+2581, no effective pre-tokenizer, so the whole text between
added tokens is one BPE word. Size: 262,144 entries and about half a million merges, as merges hold every split of a piece
into two pieces. Ids of control, byte and multimodal tokens are those of the published models.
"""
import itertools
import json
import random
import shutil
from pathlib import Path

SPACE = "\u2581"
FULL_VOCABULARY = 262144
SMALLEST_VOCABULARY = 4096
TEMPLATE = Path(__file__).resolve().parents[1] / "pipelines/data/shapes-gemma4/chat_template.jinja"

CONTROL = {  # id: (content, special)
    0: ("<pad>", True), 1: ("<eos>", True), 2: ("<bos>", True), 3: ("<unk>", True), 4: ("<mask>", False),
    5: ("[multimodal]", False), 46: ("<|tool>", True), 47: ("<tool|>", True), 48: ("<|tool_call>", True),
    49: ("<tool_call|>", True), 50: ("<|tool_response>", True), 51: ("<tool_response|>", True), 52: ('<|"|>', True),
    98: ("<|think|>", True), 100: ("<|channel>", True), 101: ("<channel|>", True), 105: ("<|turn>", True),
    106: ("<turn|>", True),
}
FIRST_NEWLINE, FIRST_TAGS, FIRST_TABS, FIRST_BYTE, FIRST_PIECE = 107, 168, 206, 238, 494
LONGEST_RUN = 31
TAGS = [f"<{slash}{name}>" for name in ("table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "h1", "h2", "h3",
                                        "h4", "h5", "h6", "blockquote", "strong", "em", "b", "code")
        for slash in ("", "/")]
ROLES = {
    "audio_token": "<|audio|>", "boa_token": "<|audio>", "boi_token": "<|image>", "bos_token": "<bos>",
    "eoa_token": "<audio|>", "eoc_token": "<channel|>", "eoi_token": "<image|>", "eos_token": "<eos>",
    "eot_token": "<turn|>", "escape_token": '<|"|>', "etc_token": "<tool_call|>", "etd_token": "<tool|>",
    "etr_token": "<tool_response|>", "image_token": "<|image|>", "mask_token": "<mask>", "pad_token": "<pad>",
    "soc_token": "<|channel>", "sot_token": "<|turn>", "stc_token": "<|tool_call>", "std_token": "<|tool>",
    "str_token": "<|tool_response>", "think_token": "<|think|>", "unk_token": "<unk>",
}


def multimodal_ids(vocabulary):
    """Content to id; the ids of the published models, or the end of a cut vocabulary."""
    if vocabulary >= FULL_VOCABULARY:
        return {"<|image>": 255999, "<|audio>": 256000, "<|image|>": 258880, "<|audio|>": 258881, "<image|>": 258882,
                "<audio|>": 258883, "<|video|>": 258884}
    names = ["<|video|>", "<audio|>", "<|audio>", "<|audio|>", "<|image|>", "<|image>", "<image|>"]
    return {name: vocabulary - 8 + i for i, name in enumerate(names)}


def runs(character, shortest):
    return [character * n for n in range(shortest, LONGEST_RUN + 1)]


def alphabet():
    """Single characters: ASCII, Latin-1, Greek, Cyrillic, kana and common signs, the space mark first."""
    spans = [(0x21, 0x7F), (0xA1, 0x100), (0x391, 0x3CA), (0x410, 0x450), (0x3041, 0x3097), (0x30A1, 0x30FB), (0x4E00, 0x4E80)]
    return [SPACE] + [chr(c) for first, end in spans for c in range(first, end) if chr(c).isprintable()]


def pieces(count, rng):
    """`count` words of one to four syllables in the order of their rank, and every merge that makes them."""
    starts = [SPACE + c for c in "abcdefghijklmnoprstuvwyzABCDEFGHIJKLMNOPRSTW"]
    syllables = [c + v for c in "bcdfghjklmnpqrstvwxyzBCDFGMPST" for v in "aeiou"]
    result = dict.fromkeys(starts + syllables)
    for first, second in itertools.product(starts + syllables, syllables):
        result[first + second] = None
    result = dict.fromkeys(list(result)[:count])
    pairs = [p for p in result if len(p) == 4]
    triples = []
    while len(result) < count:
        # Three quarters of the rest are three syllables, the others extend one of those.
        if rng.random() < 0.75 or not triples:
            word = rng.choice(pairs) + rng.choice(syllables)
            if word not in result:
                triples.append(word)
        else:
            word = rng.choice(triples) + rng.choice(syllables)
        result[word] = None
    known = set(result) | set(alphabet())
    merges = [(word[:i], word[i:]) for word in result for i in range(1, len(word))
              if word[:i] in known and word[i:] in known]
    return list(result), merges


def run_merges():
    """Every split of every run, the longest first, as the published tokenizers rank them."""
    return [(c * i, c * (n - i)) for c in ("\n", SPACE, "\t") for n in range(LONGEST_RUN, 1, -1) for i in range(1, n)]


def build(vocabulary=FULL_VOCABULARY, seed=0):
    """The content of tokenizer.json."""
    if not SMALLEST_VOCABULARY <= vocabulary <= FULL_VOCABULARY:
        raise ValueError(f"vocabulary is {vocabulary}, expected {SMALLEST_VOCABULARY} to {FULL_VOCABULARY}")
    multimodal = multimodal_ids(vocabulary)
    added = dict(CONTROL)
    for first, contents in ((FIRST_NEWLINE, runs("\n", 1) + runs(SPACE, 2)), (FIRST_TAGS, TAGS), (FIRST_TABS, runs("\t", 1))):
        added.update((first + i, (content, False)) for i, content in enumerate(contents))
    added.update((i, (content, True)) for content, i in multimodal.items())
    tokens = {i: content for i, (content, _) in added.items()}
    tokens.update((FIRST_BYTE + b, f"<0x{b:02X}>") for b in range(256))

    last_piece = min(multimodal.values())
    characters = alphabet()
    words, merges = pieces(last_piece - FIRST_PIECE - len(characters), random.Random(seed))
    tokens.update((FIRST_PIECE + i, piece) for i, piece in enumerate(words + characters))
    unused = itertools.count()
    for i in range(vocabulary):
        if i not in tokens:
            tokens[i] = f"<unused{next(unused)}>"
            added[i] = (tokens[i], False)
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": i, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
                          "normalized": False, "special": special} for i, (content, special) in sorted(added.items())],
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": SPACE},
        "pre_tokenizer": {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False},
        "post_processor": {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}],
                           "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                           "special_tokens": {}},
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": SPACE}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]},
        "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": True, "byte_fallback": True, "ignore_merges": False,
                  "vocab": {tokens[i]: i for i in range(vocabulary)}, "merges": run_merges() + merges},
    }


def processor_config(soft_tokens=280):
    picture = {"do_convert_rgb": True, "do_rescale": True, "do_resize": True, "image_mean": [0.0] * 3, "image_std": [1.0] * 3,
               "patch_size": 16, "pooling_kernel_size": 3, "resample": 3, "rescale_factor": 1 / 255}
    return {
        "processor_class": "Gemma4Processor", "image_seq_length": soft_tokens, "audio_seq_length": 750,
        "audio_ms_per_token": 40,
        "feature_extractor": {"feature_extractor_type": "Gemma4AudioFeatureExtractor", "feature_size": 128,
                              "sampling_rate": 16000, "padding_side": "right", "padding_value": 0.0,
                              "return_attention_mask": True},
        "image_processor": picture | {"image_processor_type": "Gemma4ImageProcessor", "do_normalize": False,
                                      "max_soft_tokens": soft_tokens},
        "video_processor": picture | {"video_processor_type": "Gemma4VideoProcessor", "do_normalize": True,
                                      "max_soft_tokens": 70, "num_frames": 32, "do_sample_frames": True,
                                      "return_metadata": False},
    }


def write(folder, vocabulary=FULL_VOCABULARY, seed=0, soft_tokens=280):
    """tokenizer.json, tokenizer_config.json, processor_config.json and chat_template.jinja. Returns the merge count."""
    folder = Path(folder)
    tokenizer = build(vocabulary, seed)
    config = ROLES | {"backend": "tokenizers", "clean_up_tokenization_spaces": False, "model_max_length": 131072,
                      "padding_side": "left", "processor_class": "Gemma4Processor", "tokenizer_class": "GemmaTokenizer",
                      "extra_special_tokens": ["<|video|>"]}
    for name, content in (("tokenizer.json", tokenizer), ("tokenizer_config.json", config),
                          ("processor_config.json", processor_config(soft_tokens))):
        with open(folder / name, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=2, ensure_ascii=False)
            file.write("\n")
    shutil.copyfile(TEMPLATE, folder / "chat_template.jinja")
    return len(tokenizer["model"]["merges"])
