#!/usr/bin/env python3
"""Makes the image that texture.py reads: a photograph of tissue, enlarged, in spectral channels.

    python examples/tissue.py --picture build/data/ihc.png --size 2048 --channels 21 --output FILE

The photograph is enlarged by tiling in mirror image. Its three colours are the spectrum at three
wavelengths, between which channels lie; with one channel it is the brightness. The file has the
channels one after the other, a byte a pixel, rows in order.
"""

import argparse

import numpy as np
from PIL import Image


def enlarged(picture, size):
    """The picture tiled in mirror image, so without seams."""
    rows, columns = (mirrored(np.arange(extent), have)
                     for extent, have in zip(size, picture.shape))
    return picture[np.ix_(rows, columns)]


def mirrored(positions, extent):
    folded = positions % (2 * extent)
    return np.where(folded < extent, folded, 2 * extent - 1 - folded)


def channel_of(colours, index, channels):
    """Channel `index` of a picture, by its colours from red to blue."""
    if channels == 1:
        return np.rint(colours.mean(axis=2)).astype(np.uint8)
    place = 2 * index / (channels - 1)
    first = min(int(place), 1)
    mixed = colours[..., first] * (1 - (place - first)) + colours[..., first + 1] * (place - first)
    return np.rint(mixed).astype(np.uint8)


def parse_size(text):
    """'2048' or '1536x2048' (height x width)."""
    extents = [int(part) for part in text.lower().split("x")]
    if len(extents) > 2 or min(extents) < 1:
        raise argparse.ArgumentTypeError("want N or HxW")
    return extents * 2 if len(extents) == 1 else extents


def positive(text):
    if int(text) < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return int(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--picture", required=True, help="PNG or JPEG")
    parser.add_argument("--size", type=parse_size, default=[2048, 2048], metavar="N|HxW")
    parser.add_argument("--channels", type=positive, default=21, metavar="N")
    parser.add_argument("--output", required=True, metavar="FILE")
    arguments = parser.parse_args()
    colours = np.asarray(Image.open(arguments.picture).convert("RGB"), np.float32)
    with open(arguments.output, "wb") as stream:
        for index in range(arguments.channels):
            channel = channel_of(colours, index, arguments.channels)
            stream.write(enlarged(channel, arguments.size).tobytes())


if __name__ == "__main__":
    main()
