"""What of Sluice is written in Python: reading what jobs left behind, and acting on it; and, for
programs that use mpi4py, the statistics, plans and hints of their files."""
import sys

if sys.version_info >= (3, 11):  # An older one gets as far as __main__, which says so.
    from sluice.files import (NotServed, Statistics, hints, is_active, plan, statistics,
                              version)

    __all__ = ["NotServed", "Statistics", "hints", "is_active", "plan", "statistics", "version"]
