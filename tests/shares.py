"""Which cases a test takes where all of them take longer than a part may."""


def add_argument(parser):
    parser.add_argument("--share", default="1/1", help="only a part of the cases: 2/3")


def share_of(cases, args):
    """Every third of them, for example: neighbours, which take alike long, are in other shares."""
    number, count = map(int, args.share.split("/"))
    return cases[number - 1::count]
