"""python -m inkling: the program `inkling`."""

import sys

from . import _inkling


def main() -> None:
    sys.stdout.flush()
    sys.exit(_inkling._run(["inkling", *sys.argv[1:]], sys.orig_argv))


if __name__ == "__main__":
    main()
