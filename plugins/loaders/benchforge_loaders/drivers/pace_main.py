"""pace: its version, or a load. A run starts it for both, and each needs no more than it imports.

An interpreter compiles the file that it starts each time: so this one is short.
"""

import sys

FORMAT = 1
PYTHON = f"{'PyPy' if sys.implementation.name == 'pypy' else 'CPython'} {sys.version.split()[0]}"


def main():
    if sys.argv[1:] == ["--version"]:
        print(f"pace {FORMAT}, {PYTHON}")
        return
    # What flows take and send is benchforge's own code: beside this package, or in a clone.
    for root in ("../..", "../../../.."):
        sys.path.append(f"{sys.path[0]}/{root}/benchforge/suite/mix/drivers")
    if any(word.startswith("https://") for word in sys.argv[1:]):
        import ssl  # noqa: F401, PLC0415 - before the loop, which awaits its errors, too
    from pace_load import main as load  # noqa: PLC0415

    load(FORMAT, PYTHON)


if __name__ == "__main__":
    main()
