"""What a machine with a card is: the card, its driver, the kernel, and what is tested there."""
import ctypes
import os
import platform
import re
import subprocess
import time
from pathlib import Path

from session import machine_facts

DRIVER_FILE = Path("/proc/driver/nvidia/version")


def driver_of_card():
    """Raises OSError where there is none."""
    cuda = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_LOCAL | os.RTLD_NOW)
    version, count, name = ctypes.c_int(), ctypes.c_int(), ctypes.create_string_buffer(100)
    if code := cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)):
        raise OSError(f"the driver of CUDA finds no device: error {code}")
    cuda.cuDriverGetVersion(ctypes.byref(version))
    cuda.cuDeviceGetName(name, len(name), 0)
    return {"card": name.value.decode(), "cards": count.value,
            "cuda": f"{version.value // 1000}.{version.value % 1000 // 10}"}


def version_of_driver():
    try:
        words = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "--id=0"]
        return subprocess.run(words, capture_output=True, text=True, timeout=20,
                              check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        text = DRIVER_FILE.read_text() if DRIVER_FILE.exists() else ""
        found = re.search(r"\d+\.\d+(\.\d+)?", text)
        return found[0] if found else "unknown"


def facts_of(driver):
    card = ({**driver_of_card(), "driver": version_of_driver()} if driver == "card" else
            {"driver": "pretended"})
    return {**card, **machine_facts(), "python": platform.python_version(),
            "date": time.strftime("%Y-%m-%d")}
