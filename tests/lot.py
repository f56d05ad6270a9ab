"""What a run draws by lot, anew each time: an order of cases, of which those are tried that fit
into some seconds. It prints its seed; with that and without a limit it does the same again."""
import random
import time


def add_arguments(parser):
    parser.add_argument("--seconds", type=float, default=0,
                        help="begin no case after so many, and take them in a drawn order; 0: all")
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn; 0: a new one")


def fresh_seed():
    return random.SystemRandom().randrange(1, 2**31)


class Lot:
    """The draw of one run, and its time."""

    def __init__(self, args):
        self.seconds = args.seconds
        self.seed = args.seed or fresh_seed()
        self.random = random.Random(self.seed)
        self.began = time.monotonic()

    def is_over(self):
        return bool(self.seconds) and time.monotonic() - self.began >= self.seconds

    def cases(self, cases, always=lambda case: False):
        """All of them in their order, or some in a drawn one: first those that are tried `always`,
        and one in any case."""
        cases, tried = list(cases), 0
        if self.seconds:
            self.random.shuffle(cases)
            cases.sort(key=lambda case: not always(case))
        for case in cases:
            if tried and self.is_over():
                break
            tried += 1
            yield case
        print(f"seed {self.seed}: {tried} of {len(cases)} cases tried", flush=True)
