"""What machine this is, in words."""
import os
import pathlib
import re


def processor():
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return model.group(1) if model else os.uname().machine


def machine():
    return f"{os.cpu_count()} cores, {processor()}"
