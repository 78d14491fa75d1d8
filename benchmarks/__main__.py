"""`python -m benchmarks NAME [options]`."""

import importlib
import sys

NAMES = ("startup", "rules", "discovery", "decode", "prefix", "smallmodel")


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        sys.stderr.write(f"usage: python -m benchmarks {{{','.join(NAMES)}}} [options]\n")
        return 2
    module = importlib.import_module(f"benchmarks.{sys.argv[1]}")
    return int(module.main(sys.argv[2:]))


if __name__ == "__main__":
    sys.exit(main())
