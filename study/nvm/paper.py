"""What the paper says in prose and tables; its figures have no numbers that could be read."""

NAME = ("Wei Liu, Kai Wu, Jialin Liu, Feng Chen and Dong Li, \"Performance evaluation and modeling of "
        "HPC I/O on non-volatile memory\", 2017")
DEVICES = ("hdd", "ssd", "nvm")
MIB = 1 << 20

# Section III.A. A sixteenth of the paper's cache and data: its gigabytes are 64 MiB here.
SCALE = 16
CACHE_GB = (1, 2, 3, 5, 7, 9, 11)
# From 11 GB of cache to 1 GB, HACC-IO; from 3 GB to 1 GB on NVM, the others.
HACC_LOSS = {"hdd": 0.927, "ssd": 0.848, "nvm": 0.115}
NVM_LOSS = {"madbench": 0.4016, "s3asim": 0.0591}

# Section III.B: POSIX is so much better than individual I/O on NVM, one node.
POSIX_GAIN = 0.0487
# Section III.C: collective I/O is so much worse than individual I/O somewhere on NVM.
COLLECTIVE_LOSS = 0.384

# Table II, 16 processes on 4 nodes: seconds, and milliseconds of an iteration.
PROFILE = {"hdd": {"io": 5938.91, "shuffle": 466.21, "share": 0.0785, "io_ms": 170.38,
                   "shuffle_ms": 13.77},
           "ssd": {"io": 1002.93, "shuffle": 499.30, "share": 0.4993, "io_ms": 28.77,
                   "shuffle_ms": 14.32},
           "nvm": {"io": 986.15, "shuffle": 494.61, "share": 0.5016, "io_ms": 28.29,
                   "shuffle_ms": 14.19}}

# I/O time over I/O time an iteration: 34,860 iterations. 16 GB are 1,024 windows of 16 MB, so that
# most had no data: the calls' blocks lie 512 MB apart. Seconds above are sums over 4 aggregators.
PROFILE_WINDOWS = 1024

# Section IV.C and table IV: seconds, seconds a megabyte, megabytes a second.
START, MEGABYTE = 5.39e-3, 3.35e-2
BANDWIDTH = {"hdd": (58.11, 26.72), "ssd": (110.98, 101.86), "nvm": (112.31, 110.51)}
PAPER_BYTES, PAPER_WINDOW = 16384 * 10**6, 16 * 10**6  # what tables V and VI come from
FIGURE_11_PROCESSES, FIGURE_11_AGGREGATORS = 16, 4

# Tables V and VI: (nodes, way, device) -> estimated, measured, error as printed.
VALIDATION = {
    (4, "collective", "hdd"): (411.78, 385.86, 0.067),
    (4, "collective", "ssd"): (286.21, 277.46, 0.032),
    (4, "collective", "nvm"): (284.46, 242.54, 0.144),
    (4, "individual", "hdd"): (613.17, 593.04, 0.034),
    (4, "individual", "ssd"): (160.84, 146.50, 0.098),
    (4, "individual", "nvm"): (145.88, 146.35, 0.032),
    (2, "collective", "hdd"): (350.90, 354.59, 0.0104),
    (2, "collective", "ssd"): (216.58, 217.74, 0.0053),
    (2, "collective", "nvm"): (214.83, 213.01, 0.0085),
    (2, "individual", "hdd"): (613.17, 580.32, 0.0566),
    (2, "individual", "ssd"): (160.84, 146.40, 0.0986),
    (2, "individual", "nvm"): (145.88, 146.55, 0.0046),
}
MEAN_ERROR, WORST_ERROR = 0.0493, 0.144
