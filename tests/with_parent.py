"""What a process does that must not outlive the one that started it."""
import ctypes
import os
import signal


def end_with_parent(parent):
    """In a child, before its program: its parent's end, even by SIGKILL, ends it."""
    set_parent_death_signal = 1  # <sys/prctl.h>
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
