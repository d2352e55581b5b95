#!/usr/bin/env python3
"""Records what PyTorch and closed forms say about pairs of tensors: the judge of Lockstep's comparisons.

    python3 tools/record_check_cases.py tests/data/check/cases.json

Nothing here calls Lockstep. `close` is torch.testing.assert_close itself (verdict and count of mismatches) and, for its
value, torch's own operations in the tensor's dtype; all other metrics are computed by torch in float64 or, where
integers are exact, by Python. tests/data/check/README.md describes the format.
"""

import itertools
import json
import math
import re
import sys

import torch

FLOATS = ["bfloat16", "float16", "float32", "float64"]
FLOAT8 = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"]
INTEGERS = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
EXACT = ["bool", *INTEGERS, *FLOAT8]
BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
DEFAULTS = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}
NORM_WISE = {"bfloat16": 6e-2, "float32": 1e-5}
LARGEST_BFLOAT16 = torch.finfo(torch.bfloat16).max
FILL = {"float16": 65504.0, "bfloat16": LARGEST_BFLOAT16, "float32": LARGEST_BFLOAT16, "float64": LARGEST_BFLOAT16}


def dtype(name):
    return getattr(torch, name)


def name_of(d):
    return str(d).removeprefix("torch.")


def patterns(values, name):
    """A 1-d tensor of dtype `name` from unsigned bit patterns."""
    width = dtype(name).itemsize
    return torch.frombuffer(bytearray(b"".join(v.to_bytes(width, "little") for v in values)), dtype=dtype(name))


def bits_of(t):
    """Unsigned bit patterns in row-major order."""
    flat = t.contiguous().reshape(-1)
    if flat.numel() == 0:
        return []
    mask = (1 << (8 * t.element_size())) - 1
    return [b & mask for b in flat.view(BITS[t.element_size()]).tolist()]


def number(x):
    """JSON has no non-finite numbers."""
    if x is None:
        return None
    x = float(x)
    return x if math.isfinite(x) else ("nan" if math.isnan(x) else ("inf" if x > 0 else "-inf"))


# --- generated tensors: the same integers on both sides of the fence (tests/check/generator.hpp) ---------------------


def mix(i, seed):
    """A 64-bit integer hash; all arithmetic modulo 2^64."""
    m = (1 << 64) - 1
    z = (i * 0x9E3779B97F4A7C15 + seed * 0xD1B54A32D192ED03 + 1) & m
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & m
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & m
    return z ^ (z >> 31)


SHAPES = {"bfloat16": (7, 127), "float16": (10, 15), "float32": (23, 127), "float64": (52, 1023),
          "float8_e4m3fn": (3, 7), "float8_e5m2": (2, 15)}


def generated_bits(name, i, seed, change_every, side):
    """Expected: floats of 2^-3 .. 2^4 of either sign. Actual: one in `change_every` has other low mantissa bits."""
    h = mix(i, seed)
    width = 8 * dtype(name).itemsize
    if name in SHAPES:
        mantissa, bias = SHAPES[name]
        value = ((h & 1) << (width - 1)) | ((bias - 3 + (h >> 1) % 8) << mantissa) | ((h >> 8) & ((1 << mantissa) - 1))
    elif name == "bool":
        value = h & 1
    else:
        value = h & ((1 << (width - 1)) - 1)
    if side == "actual" and change_every and mix(i, seed + 1) % change_every == 0:
        value ^= 1 if name == "bool" else 1 + (mix(i, seed + 2) & 3) % 3
    return value


def generate(name, count, seed, change_every, side):
    return patterns([generated_bits(name, i, seed, change_every, side) for i in range(count)], name)


# --- the judge --------------------------------------------------------------------------------------------------------


def assert_close(e, a, rtol, atol):
    """Verdict and mismatches of torch.testing.assert_close."""
    try:
        torch.testing.assert_close(a, e, rtol=rtol, atol=atol)
        return True, 0
    except AssertionError as error:
        text = str(error)
        if "not supported" in text:
            return False, None
        found = re.search(r"Mismatched elements: (\d+) /", text)
        return False, int(found.group(1)) if found else 1


def close_ratios(e, a, rtol, atol):
    """The design's value, element by element: torch's operations in the dtype, the quotient in float64."""
    name = name_of(e.dtype)
    equal = (e.double() == a.double()) if name in FLOATS + FLOAT8 else (e == a)
    if rtol == 0 and atol == 0:
        return torch.where(equal, 0.0, math.inf).double().reshape(-1)
    reference = e if name in FLOATS else e.float()
    difference = (a - reference).abs() if name in FLOATS else (a.float() - reference).abs()
    allowed = atol + (rtol * reference).abs()
    inside = difference.isfinite() & (difference <= allowed)
    ratio = difference.double() / allowed.double()
    ratio = torch.where((allowed == 0) | ~difference.isfinite(), math.inf, ratio)
    ratio = torch.where(inside & (difference == 0), 0.0, ratio)
    ratio = torch.where(inside, ratio.clamp(max=1.0), ratio.clamp(min=math.nextafter(1.0, 2.0)))
    return torch.where(equal, 0.0, ratio).reshape(-1)


def first_argmax(values):
    best, where = -1.0, 0
    for i, v in enumerate(values):
        if v > best:
            best, where = v, i
    return where


def place(bits, width):
    sign = 1 << (width - 1)
    return -(bits & (sign - 1)) if bits & sign else bits


def ulp_distance(e, a, finite_pairs):
    """Exact integers. Integers and bool: the difference. e8m0 has no sign bit."""
    name = name_of(e.dtype)
    width = 8 * e.element_size()
    if name == "bool" or name in INTEGERS:
        return [abs(x - y) for x, y in zip(e.reshape(-1).tolist(), a.reshape(-1).tolist())]
    pairs = zip(bits_of(e), bits_of(a), finite_pairs)
    if name == "float8_e8m0fnu":
        return [abs(x - y) if ok else 0 for x, y, ok in pairs]
    return [abs(place(x, width) - place(y, width)) if ok else 0 for x, y, ok in pairs]


def exact_abs(e, a):
    name = name_of(e.dtype)
    if name in INTEGERS or name == "bool":
        return torch.tensor([float(abs(int(x) - int(y))) for x, y in zip(e.reshape(-1).tolist(), a.reshape(-1).tolist())],
                            dtype=torch.float64)
    return (a.double() - e.double()).abs().reshape(-1)


def divergences(e, a):
    """Per-row KL by torch in float64; the rule for p = 0 is torch's own (xlogy)."""
    log_p = torch.log_softmax(e, -1)
    log_q = torch.log_softmax(a, -1)
    term = torch.where(log_p == -math.inf, 0.0, log_p.exp() * (log_p - log_q))
    return term.sum(-1).reshape(-1).clamp(min=0)


def top_sets_agree(e, a, k):
    """Brute force over every way to break ties: is there a set of k that both sides may call their k largest?
    None if there are too many ways to try."""
    for values in (e, a):
        tied = int((values == values.sort(descending=True).values[k - 1]).sum())
        if math.comb(tied, min(k, tied // 2)) > 2000:
            return None

    def choices(values):
        t = sorted(values, reverse=True)[k - 1]
        sure = {i for i, v in enumerate(values) if v > t}
        tied = [i for i, v in enumerate(values) if v == t]
        return {frozenset(sure | set(c)) for c in itertools.combinations(tied, k - len(sure))}
    return bool(choices(e.tolist()) & choices(a.tolist()))


def judge(e, a, tolerances, ks):
    """Everything under the rule that equal infinities match and NaN never does."""
    name = name_of(e.dtype)
    out = {"close": []}
    for rtol, atol in [(None, None), *tolerances]:
        passes, mismatched = assert_close(e, a, rtol, atol)
        entry = {"rtol": rtol, "atol": atol, "pass": passes, "mismatched": mismatched}
        if mismatched is None:
            entry["refused"] = True
        elif e.shape == a.shape and e.dtype == a.dtype and e.numel():
            r, t = (rtol, atol) if rtol is not None else DEFAULTS.get(name, (0.0, 0.0))
            ratios = close_ratios(e, a, r, t)
            entry["value"] = number(ratios.max())
            assert passes == (ratios.max() <= 1).item(), (name, e, a, r, t)
            assert mismatched == int((ratios > 1).sum()), (name, e, a, r, t)
        out["close"].append(entry)
    if e.shape != a.shape or e.dtype != a.dtype:
        out["ladder"] = "not_comparable"
        return out
    if e.numel() == 0:
        return out

    e64, a64 = e.double().reshape(-1), a.double().reshape(-1)
    floating = name in FLOATS + FLOAT8
    be, ba = bits_of(e), bits_of(a)
    nan = e64.isnan() | a64.isnan()
    infinite = (e64.isinf() | a64.isinf()) & ~nan
    equal = (e64 == a64) if floating else (e == a).reshape(-1)
    unequal_infinite = infinite & ~equal
    finite = ~(nan | infinite)
    ulps = ulp_distance(e, a, finite.tolist())
    d = exact_abs(e, a)
    d = torch.where(finite & ~equal, d, 0.0)
    out["non_finite"] = int((nan | infinite).sum())
    out["bits_differ"] = sum(x != y for x, y in zip(be, ba))
    out["values_differ"] = int((~equal).sum())

    broken = "nan" if nan.any() else ("inf" if unequal_infinite.any() else None)
    value = lambda x: broken if broken else number(x)
    rel = torch.where(equal | ~finite, 0.0, d / e64.abs())
    out["max_abs"], out["max_rel"] = value(d.max()), value(rel.max())
    out["mean_abs"], out["rmse"] = value(d.mean()), value((d * d).mean().sqrt())
    out["ulp"] = broken if broken else float(max(ulps))
    out["finite_max_abs"] = number(d.max())

    fill = FILL.get(name, math.inf)
    exempt = ((e64 >= fill) & (a64 >= fill)) | ((e64 <= -fill) & (a64 <= -fill))
    used = ~exempt
    out["exempt"] = int(exempt.sum())
    d_used = d[used]
    if nan.any():
        out["norm_wise"] = None
    elif unequal_infinite.any():
        out["norm_wise"] = "inf"
    elif used.any():
        top = e64[used].abs().max()
        out["norm_wise"] = number(0.0 if d_used.max() == 0 else d_used.max() / top)
    else:
        out["norm_wise"] = "exempt"

    reference_infinite = bool(e64.isinf().any())
    if nan.any() or reference_infinite:
        out["peir"] = None
    elif infinite.any():
        out["peir"] = "inf"
    elif not used.any():
        out["peir"] = "exempt"
    else:
        span = e64[used].max() - e64[used].min()
        out["peir"] = None if span == 0 else number(d_used.max() / span)

    noise, signal = (d * d).sum(), (e64 * e64).sum()
    if nan.any() or reference_infinite:
        out["sqnr"] = None
    elif infinite.any():
        out["sqnr"] = "-inf"
    elif bool(equal.all()):
        out["sqnr"] = "inf"
    elif not (noise.isfinite() and signal.isfinite()) or noise == 0:
        out["sqnr"] = None
    else:
        out["sqnr"] = number(10 * (torch.log10(signal) - torch.log10(noise)))

    def cosine(x, y):
        nx, ny = x.norm(), y.norm()
        if nx == 0 and ny == 0:
            return 1.0
        return 0.0 if nx == 0 or ny == 0 else float(((x / nx) @ (y / ny)).clamp(-1, 1))

    # Squares that leave float64's range are another rule's business (float64 cases only).
    tame = bool(finite.all()) and all(x == 0 or 1e-100 < abs(x) < 1e100 for x in e64.tolist() + a64.tolist())
    if tame:
        out["cosine"] = cosine(e64, a64)
        if e.dim() > 1:
            rows = zip(e64.reshape(-1, e.shape[-1]), a64.reshape(-1, e.shape[-1]))
            out["cosine_min_row"] = min(cosine(x, y) for x, y in rows)
        constant = e64.min() == e64.max() or a64.min() == a64.max()
        if e.numel() == 1 or constant:
            out["pcc"] = None
        else:
            out["pcc"] = float(torch.corrcoef(torch.stack([e64, a64]))[0, 1])

    rows_e = e64.reshape(-1, e.shape[-1] if e.dim() else 1)
    rows_a = a64.reshape(rows_e.shape)
    if not nan.any() and rows_e.shape[1] > 1 and e.numel() <= 3000:
        rows = divergences(rows_e, rows_a)
        moderate = all(not math.isfinite(x) or abs(x) < 1e100 for x in e64.tolist() + a64.tolist())
        if not moderate:  # float64's own overflow, not a property of KL
            pass
        elif rows.isnan().any():
            out["kl"] = None
        else:
            out["kl"] = number(rows.max())
            if rows.isfinite().all():
                out["kl_mean"] = float(rows.mean())
                out["kl_median"], out["kl_p99"] = rows.quantile(0.5).item(), rows.quantile(0.99).item()
        out["top1"] = float((rows_e.argmax(-1) == rows_a.argmax(-1)).double().mean())
        out["topk"] = {}
        for k in ks:
            if k < rows_e.shape[1] and e.numel() <= 600:
                agree = [top_sets_agree(x, y, k) for x, y in zip(rows_e, rows_a)]
                if None not in agree:
                    out["topk"][str(k)] = sum(agree) / len(agree)

    if nan.any() or unequal_infinite.any():
        out["ladder"] = "non_finite"
    elif out["bits_differ"] == 0:
        out["ladder"] = "bits_equal"
    elif out["values_differ"] == 0:
        out["ladder"] = "signed_zero"
    elif floating and max(ulps) <= 4:
        out["ladder"] = "ulp"
    else:
        out["ladder"] = "close" if out["close"][0]["pass"] else "far"

    if not nan.any() and not infinite.any():
        out["worst_abs"] = first_argmax(d.tolist())
        out["worst_ulp"] = first_argmax([float(u) for u in ulps])
        out["worst_rel"] = first_argmax(rel.tolist())
    elif (nan | unequal_infinite).any():
        out["worst_non_finite"] = int((nan | unequal_infinite).nonzero()[0])
    return out


# --- the cases --------------------------------------------------------------------------------------------------------


def side(t):
    """How the test rebuilds a tensor: the bytes from its lowest element on, sizes, strides."""
    storage = t.untyped_storage()
    begin = t.storage_offset() * t.element_size()
    last = sum((n - 1) * s for n, s in zip(t.shape, t.stride())) if t.numel() else -1
    raw = bytes(storage)[begin:begin + (last + 1) * t.element_size()]
    out = {"dtype": name_of(t.dtype), "sizes": list(t.shape), "data": raw.hex()}
    if not t.is_contiguous():
        out["strides"] = list(t.stride())
    return out


CASES = []


def add(name, e, a, tolerances=(), ks=(1, 3)):
    CASES.append({"name": name, "expected": side(e), "actual": side(a), "judge": judge(e, a, list(tolerances), ks)})


def add_generated(name, count, seed, change_every, sizes=None, tolerances=()):
    sizes = sizes or [count]
    e = generate(name, count, seed, change_every, "expected").reshape(sizes)
    a = generate(name, count, seed, change_every, "actual").reshape(sizes)
    CASES.append({"name": f"{name} generated {sizes} seed {seed}",
                  "generated": {"dtype": name, "sizes": sizes, "seed": seed, "change_every": change_every},
                  "judge": judge(e, a, list(tolerances), (1, 3))})


def special_bits(name):
    width = 8 * dtype(name).itemsize
    if name == "bool":
        return [0, 1]
    if name in INTEGERS:
        top = (1 << width) - 1
        half = 1 << (width - 1)
        return sorted({0, 1, 2, 3, half - 1, half, half + 1, top, top - 1})
    if name in FLOAT8:
        return {"float8_e4m3fn": [0x00, 0x80, 0x01, 0x81, 0x07, 0x08, 0x38, 0x39, 0xB8, 0x7E, 0xFE, 0x7F, 0xFF],
                "float8_e5m2": [0x00, 0x80, 0x01, 0x03, 0x04, 0x3C, 0x3D, 0xBC, 0x7B, 0xFB, 0x7C, 0xFC, 0x7D, 0xFE],
                "float8_e4m3fnuz": [0x00, 0x80, 0x01, 0x81, 0x07, 0x08, 0x40, 0x41, 0xC0, 0x7F, 0xFF],
                "float8_e5m2fnuz": [0x00, 0x80, 0x01, 0x81, 0x03, 0x04, 0x40, 0x41, 0xC0, 0x7F, 0xFF],
                "float8_e8m0fnu": [0x00, 0x01, 0x7E, 0x7F, 0x80, 0xFE, 0xFF]}[name]
    mantissa, bias = SHAPES[name]
    sign = 1 << (width - 1)
    one = bias << mantissa
    infinity = ((2 * bias + 1) << mantissa)
    return [0, sign, 1, sign | 1, (1 << mantissa) - 1, 1 << mantissa, one, one + 1, one + 5, sign | one,
            one + (1 << (mantissa - 1)), infinity - 1, sign | (infinity - 1), infinity, sign | infinity, infinity + 1,
            sign | (infinity | (1 << (mantissa - 1)))]


def special_cases():
    for name in FLOATS + FLOAT8 + ["bool", *INTEGERS]:
        special = special_bits(name)
        tolerances = [(0.0, 0.0), (0.25, 0.5)]
        pairs = list(itertools.product(special, special))
        if name in FLOATS + FLOAT8:
            for x, y in pairs if name in ("bfloat16", "float16") else pairs[::3]:
                add(f"{name} pair {x:x} {y:x}", patterns([x], name).reshape([]), patterns([y], name).reshape([]),
                    tolerances[1:])
        add(f"{name} all pairs", patterns([x for x, _ in pairs], name), patterns([y for _, y in pairs], name), tolerances)
        finite = [p for p in pairs if all(patterns([v], name).double().isfinite().item() for v in p)]
        add(f"{name} all finite pairs", patterns([x for x, _ in finite], name), patterns([y for _, y in finite], name),
            tolerances)


def limit_cases():
    """Differences at and next to what the tolerance allows, where rounding in the dtype decides."""
    generator = torch.Generator().manual_seed(1)
    for name in FLOATS:
        for rtol, atol in [DEFAULTS[name], (0.1, 0.0), (0.0, 0.3), (3e-3, 1e-4)]:
            for scale in (1e-3, 1.0, 300.0):
                e64 = torch.randn(240, generator=generator, dtype=torch.float64) * scale
                e = e64.to(dtype(name))
                limit = atol + rtol * e.double().abs()
                factor = 1 + (torch.arange(240) % 9 - 4) * torch.finfo(dtype(name)).eps / 4
                sign = 1 - 2 * (torch.arange(240) % 2)
                add(f"{name} at the limit {rtol} {atol} scale {scale}", e,
                    (e.double() + sign * limit * factor).to(dtype(name)), [(rtol, atol)])


def shape_cases():
    for name in ["bfloat16", "float32", "int64", "bool", "float8_e4m3fn"]:
        base = generate(name, 60, 5, 4, "expected")
        other = generate(name, 60, 5, 4, "actual")
        for sizes in ([0], [3, 0, 2], [], [1], [1, 1], [60], [5, 12], [3, 4, 5], [60, 1], [1, 60]):
            n = math.prod(sizes)
            add(f"{name} shape {sizes}", base[:n].reshape(sizes), other[:n].reshape(sizes))
        m, w = base.reshape(5, 12), other.reshape(5, 12)
        add(f"{name} transposed", m.t(), w.t())
        add(f"{name} one side transposed", m.t(), w.t().contiguous())
        add(f"{name} every second column", m[:, ::2], w[:, ::2])
        add(f"{name} every second row", m[::2], w[::2])
        add(f"{name} inner slice", m[1:4, 3:9], w[1:4, 3:9])
        add(f"{name} permuted", base.reshape(3, 4, 5).permute(2, 0, 1), other.reshape(3, 4, 5).permute(2, 0, 1))
        add(f"{name} expanded", base[:4].reshape(4, 1).expand(4, 6), other[:4].reshape(4, 1).expand(4, 6))
        add(f"{name} expanded rows", base[:4].expand(6, 4), other[:24].reshape(6, 4))
        for first, second in [([3, 1], [3, 4]), ([1], []), ([4], [1, 4]), ([0], [1]), ([2, 6], [12])]:
            add(f"{name} broadcast {first} {second}", base[:math.prod(first)].reshape(first),
                base[:math.prod(second)].reshape(second))
    for first, second in [("bfloat16", "float32"), ("float16", "bfloat16"), ("int32", "int64"), ("bool", "uint8"),
                          ("float32", "float64"), ("float8_e4m3fn", "float8_e4m3fnuz")]:
        add(f"{first} against {second}", torch.ones(4).to(dtype(first)), torch.ones(4).to(dtype(second)))


def value_cases():
    for name in FLOATS:
        d = dtype(name)
        ramp = (torch.arange(24, dtype=torch.float64) - 7).to(d).reshape(4, 6)
        add(f"{name} zeros", torch.zeros(3, 4, dtype=d), torch.zeros(3, 4, dtype=d))
        add(f"{name} zero against small", torch.zeros(3, 4, dtype=d), torch.full((3, 4), 1e-3, dtype=d))
        add(f"{name} constant", torch.full((3, 4), 2.0, dtype=d), torch.full((3, 4), 2.5, dtype=d))
        add(f"{name} constant actual", ramp, torch.full_like(ramp, 2.0))
        add(f"{name} negative zeros", torch.zeros(20, dtype=d), -torch.zeros(20, dtype=d))
        add(f"{name} twice", ramp, ramp * 2)
        add(f"{name} negated", ramp, -ramp)
        add(f"{name} shifted", ramp, ramp + 1)
        one_bad = ramp.clone()
        one_bad[2] = -one_bad[2]
        add(f"{name} one bad row", ramp, one_bad)
        zero_row = ramp.clone()
        zero_row[1] = 0
        add(f"{name} zero row", ramp, zero_row)
        add(f"{name} zero row expected", zero_row, ramp)
        add(f"{name} equal infinities", torch.tensor([[1.0, math.inf], [-math.inf, 2.0]], dtype=d),
            torch.tensor([[1.0, math.inf], [-math.inf, 2.5]], dtype=d))
        add(f"{name} masked logits", torch.tensor([[1.0, -math.inf, 2.0], [-math.inf, 0.5, 2.0]], dtype=d),
            torch.tensor([[1.5, -math.inf, 2.0], [-math.inf, 0.5, 2.5]], dtype=d))
        add(f"{name} impossible logit", torch.tensor([[1.0, 0.0, 2.0]], dtype=d),
            torch.tensor([[1.0, -math.inf, 2.0]], dtype=d))
        add(f"{name} nothing but minus infinity", torch.full((1, 3), -math.inf, dtype=d),
            torch.full((1, 3), -math.inf, dtype=d))
        lowest = torch.finfo(d).min
        mask = torch.full((6, 6), lowest, dtype=d).triu(1)
        add(f"{name} mask", mask, mask.clone())
        broken = mask.clone()
        broken[0, 3] = 0
        add(f"{name} mask with a hole", mask, broken)
        add(f"{name} mask of fills", torch.full((2, 3), lowest, dtype=d), torch.full((2, 3), lowest, dtype=d))
        scores = ramp[:, :6].clone()
        scores[:, 4:] = lowest
        noisy = scores.clone()
        noisy[:, :4] += 0.125
        add(f"{name} scores with fills", scores, noisy)
        add(f"{name} other fill", scores, torch.where(scores == lowest, torch.tensor(lowest / 2, dtype=d), scores))
    fill = torch.tensor([[1.0, torch.finfo(torch.bfloat16).min], [2.0, torch.finfo(torch.float32).min]])
    add("float32 fills of two dtypes", fill, fill.flip(0) * torch.tensor([1.0, 1.0]))
    big = (1 << 24) + 1
    add("int64 beyond float32", torch.tensor([big]), torch.tensor([big - 1]), [(0.0, 0.5), (0.0, 1.0), (1e-9, 0.0)])
    add("int32 tolerance", torch.arange(20, dtype=torch.int32), torch.arange(20, dtype=torch.int32) + 2,
        [(0.0, 2.0), (0.0, 1.5), (0.2, 0.0)])


def row_cases():
    generator = torch.Generator().manual_seed(2)
    for name in FLOATS:
        for sizes in ([6, 40], [2, 3, 17], [50]):
            for noise in (0.0, 0.01, 0.3, 3.0):
                e = torch.randn(sizes, generator=generator, dtype=torch.float64) * 4
                a = e + noise * torch.randn(sizes, generator=generator, dtype=torch.float64)
                add(f"{name} logits {sizes} noise {noise}", e.to(dtype(name)), a.to(dtype(name)), ks=(1, 2, 5, 10))
        ties = torch.randint(0, 4, (12, 7), generator=generator).to(dtype(name))
        other = torch.randint(0, 4, (12, 7), generator=generator).to(dtype(name))
        add(f"{name} ties", ties, other, ks=(1, 2, 3, 4, 5, 6))
        add(f"{name} near ties", ties, ties + (other > 2).to(dtype(name)), ks=(1, 2, 3, 4, 5, 6))
        add(f"{name} tied and equal", ties, ties.clone(), ks=(1, 2, 3))


def size_cases():
    """Around vector lengths (8 to 64 elements), the block (2,048) and the span (16,384)."""
    for name in [*FLOATS, "int32", "bool", "float8_e5m2", "uint8"]:
        for count in (2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 2047, 2048, 2049, 4097):
            add_generated(name, count, count, 5)
        for change_every in (0, 1, 3001):
            add_generated(name, 3000, 77, change_every, [30, 100])
        for count in (16383, 16384, 16385, 50000):
            add_generated(name, count, 3, 997)


def main():
    torch.set_num_threads(1)
    for make in (special_cases, limit_cases, shape_cases, value_cases, row_cases, size_cases):
        make()
    document = {"torch": torch.__version__, "cases": CASES}
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write('{"torch": %s, "cases": [\n' % json.dumps(document["torch"]))
        file.write(",\n".join(json.dumps(c, separators=(",", ":"), allow_nan=False) for c in CASES))
        file.write("\n]}\n")
    print(f"{len(CASES)} cases")


if __name__ == "__main__":
    main()
