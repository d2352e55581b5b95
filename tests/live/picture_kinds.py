"""Pictures of every kind that PNG and JPEG know, as files: name and bytes.

Pillow writes what it can; PNG types that it only reads (16 bits, interlaced, transparent colours) are written here.
"""

import io
import struct
import zlib

import numpy as np
from PIL import Image

PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))  # Adam7: x, y, dx, dy
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
NAMES = {0: "grey", 2: "rgb", 3: "palette", 4: "grey_alpha", 6: "rgba"}
DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
EXIF_ORIENTATION = 0x0112


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def packed_rows(samples, depth, rng):
    """Rows of [H, W, C] samples with a filter byte each; the filters are drawn at random."""
    height, width, channels = samples.shape
    if depth == 16:
        rows = samples.astype(">u2").view(np.uint8).reshape(height, -1)
    elif depth == 8:
        rows = samples.astype(np.uint8).reshape(height, -1)
    else:
        bits = (samples.reshape(height, -1, 1) >> np.arange(depth - 1, -1, -1)) & 1
        rows = np.packbits(bits.reshape(height, -1).astype(np.uint8), axis=1)
    step = max(1, depth * channels // 8)
    before = np.zeros(rows.shape[1], np.int64)
    out = bytearray()
    for row in rows.astype(np.int64):
        left = np.concatenate([np.zeros(step, np.int64), row])[: len(row)]
        corner = np.concatenate([np.zeros(step, np.int64), before])[: len(row)]
        guess = left + before - corner
        distances = np.stack([abs(guess - left), abs(guess - before), abs(guess - corner)])
        paeth = np.choose(distances.argmin(axis=0), [left, before, corner])
        kind = int(rng.integers(5))
        prediction = (0, left, before, (left + before) // 2, paeth)[kind]
        out += bytes([kind]) + ((row - prediction) % 256).astype(np.uint8).tobytes()
        before = row
    return bytes(out)


def png(samples, depth, color_type, rng, interlaced=False, extra=b"", idat_size=1 << 30):
    height, width, _ = samples.shape
    parts = [samples[y::dy, x::dx] for x, y, dx, dy in PASSES] if interlaced else [samples]
    data = zlib.compress(b"".join(packed_rows(part, depth, rng) for part in parts if part.size))
    header = struct.pack(">IIBBBBB", width, height, depth, color_type, 0, 0, int(interlaced))
    chunks = [chunk(b"IDAT", data[at: at + idat_size]) for at in range(0, len(data), idat_size)]
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + b"".join(chunks) + chunk(b"IEND", b"")


def draw(height, width, channels, levels, rng):
    """[H, W, C] samples below `levels`: a gradient, edges and noise."""
    y, x = np.mgrid[0:height, 0:width]
    planes = []
    for c in range(channels):
        plane = (x * (c + 2) + y * 3) % max(width, 2) / max(width, 2) * levels + ((x // 5 + y // 3 + c) % 2) * levels / 3
        noise = rng.integers(0, levels, (height, width))
        planes.append(np.where(rng.random((height, width)) < 0.3, noise, plane.astype(np.int64) % levels))
    return np.stack(planes, axis=-1)


def raw_pngs(height, width, rng):
    """Every colour type with every depth, plain and interlaced, and with a transparent colour where there may be one."""
    for color_type, depths in DEPTHS.items():
        for depth in depths:
            name = f"png_{NAMES[color_type]}_{depth}"
            samples = draw(height, width, CHANNELS[color_type], 1 << depth, rng)
            extra = b""
            if color_type == 3:
                palette = rng.integers(0, 256, (1 << depth, 3)).astype(np.uint8)
                extra = chunk(b"PLTE", palette.tobytes())
                alphas = rng.integers(0, 256, 1 << depth).astype(np.uint8)
                index = int(samples[0, 0, 0])
                one = np.full(index + 1, 255, np.uint8)
                one[index] = 0
                yield f"{name}_alphas.png", png(samples, depth, 3, rng, extra=extra + chunk(b"tRNS", alphas.tobytes()))
                yield f"{name}_one_transparent.png", png(samples, depth, 3, rng, extra=extra + chunk(b"tRNS", one.tobytes()))
                few = chunk(b"PLTE", palette[: max(1, len(palette) // 2)].tobytes())
                yield f"{name}_short.png", png(samples, depth, 3, rng, extra=few)
            if color_type in (0, 2):
                for which, color in (("colour", samples[0, 0]), ("zero", samples[0, 0] * 0), ("any", samples[-1, -1] + 256)):
                    color = chunk(b"tRNS", (color % 65536).astype(">u2").tobytes())
                    yield f"{name}_transparent_{which}.png", png(samples, depth, color_type, rng, extra=color)
            yield f"{name}.png", png(samples, depth, color_type, rng, extra=extra, idat_size=97)
            yield f"{name}_interlaced.png", png(samples, depth, color_type, rng, interlaced=True, extra=extra)


def saved(image, form, **options):
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def exif(orientation):
    data = Image.Exif()
    data[EXIF_ORIENTATION] = orientation
    return data


def pillow_pngs(height, width, rng):
    rgb = Image.fromarray(draw(height, width, 3, 256, rng).astype(np.uint8), "RGB")
    rgba = Image.fromarray(draw(height, width, 4, 256, rng).astype(np.uint8), "RGBA")
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA"):
        yield f"pillow_{mode.lower()}.png", saved((rgba if "A" in mode else rgb).convert(mode), "PNG")
    yield "pillow_i16.png", saved(Image.fromarray(draw(height, width, 1, 400, rng)[..., 0].astype(np.uint16)), "PNG")
    yield "pillow_palette_transparent.png", saved(rgb.quantize(16), "PNG", transparency=3)
    yield "pillow_palette_of_rgba.png", saved(rgba.quantize(32), "PNG")
    yield "pillow_profile_and_gamma.png", saved(rgb, "PNG", icc_profile=b"not a profile", gamma=0.45)
    yield "pillow_orientation.png", saved(rgb, "PNG", exif=exif(6))


def pillow_jpegs(height, width, rng):
    smooth = Image.fromarray(draw(height, width, 3, 256, rng).astype(np.uint8), "RGB").resize((width, height), reducing_gap=2)
    for sampling in ("4:4:4", "4:2:2", "4:2:0"):
        for quality in (10, 75, 100):
            yield f"jpeg_{sampling.replace(':', '')}_{quality}.jpg", saved(smooth, "JPEG", subsampling=sampling, quality=quality)
    yield "jpeg_progressive.jpg", saved(smooth, "JPEG", progressive=True)
    yield "jpeg_progressive_444.jpg", saved(smooth, "JPEG", progressive=True, subsampling="4:4:4", quality=95)
    yield "jpeg_restart.jpg", saved(smooth, "JPEG", restart_marker_blocks=2)
    yield "jpeg_rgb.jpg", saved(smooth, "JPEG", keep_rgb=True)
    yield "jpeg_grey.jpg", saved(smooth.convert("L"), "JPEG")
    yield "jpeg_grey_progressive.jpg", saved(smooth.convert("L"), "JPEG", progressive=True)
    cmyk = Image.fromarray(draw(height, width, 4, 256, rng).astype(np.uint8), "CMYK")
    yield "jpeg_cmyk.jpg", saved(cmyk, "JPEG", quality=90)
    yield "jpeg_cmyk_of_rgb.jpg", saved(smooth.convert("CMYK"), "JPEG")
    for orientation in range(1, 9):
        yield f"jpeg_orientation_{orientation}.jpg", saved(smooth, "JPEG", exif=exif(orientation))


def every_kind(height, width, seed):
    rng = np.random.default_rng(seed)
    for pictures in (raw_pngs, pillow_pngs, pillow_jpegs):
        yield from pictures(height, width, rng)
