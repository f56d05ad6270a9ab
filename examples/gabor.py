"""Gabor filters, and the texture that they find in an image: its local magnitude."""

import numpy as np

from transform import nothing

ORIENTATIONS = 4
SHORTEST_WAVELENGTH = 5.0  # pixels; about the thickness of a cell's wall


def filter_settings(count):
    """(wavelength, angle) of each filter: four angles, wavelengths an octave apart."""
    return [(SHORTEST_WAVELENGTH * 2 ** (index // ORIENTATIONS),
             np.pi * (index % ORIENTATIONS) / ORIENTATIONS) for index in range(count)]


def gabor_factor(extent, wave_number, sigma):
    """One direction of a Gabor filter, centred at 0 and wrapped around."""
    position = np.arange(extent)
    position = np.where(position > extent // 2, position - extent, position)
    envelope = np.exp(-0.5 * (position / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))
    return (envelope * np.exp(1j * wave_number * position)).astype(np.complex64)


def gabor_factors(height, width, setting):
    """A round Gabor filter is the outer product of these two vectors (down, across)."""
    wavelength, angle = setting
    wave_number, sigma = 2 * np.pi / wavelength, 0.56 * wavelength  # one octave wide
    return (gabor_factor(height, wave_number * np.sin(angle), sigma),
            gabor_factor(width, wave_number * np.cos(angle), sigma))


def texture_of(spectrum, setting, slabs, between_transforms=nothing):
    """This rank's column block of the filter's texture, (height, columns): two distributed FFTs,
    and the convolution, which is a product between them."""
    down, across = gabor_factors(slabs.height, slabs.width, setting)
    kernel = slabs.forward(np.multiply.outer(across[slabs.columns], down))
    between_transforms()
    kernel *= spectrum
    between_transforms()
    response = slabs.inverse(kernel)
    between_transforms()
    response /= slabs.height * slabs.width
    # Squares and root rather than abs(): each step is rounded as IEEE 754
    # says, so the bytes do not depend on how a loop was vectorised.
    magnitude = np.sqrt(response.real ** 2 + response.imag ** 2)
    return np.ascontiguousarray(magnitude.T)


def serial_texture(intensity, setting):
    """The same by one process, with numpy's FFT in double precision."""
    kernel = np.multiply.outer(*gabor_factors(*intensity.shape, setting)).astype(np.complex128)
    spectrum = np.fft.fft2(intensity.astype(np.complex128))
    return np.abs(np.fft.ifft2(np.fft.fft2(kernel) * spectrum))
