"""What a number would be in another unit: milliseconds for seconds, bits for bytes."""

_BUSY = (0.5, 1.1)
"Shares of use of connections that are common in closed loops."
_UNITS = {
    1e3: ("ms, not s, or us, not ms", "s, not ms, or ms, not us"),
    1e6: ("us, not s, or ns, not ms", "s, not us, or ms, not ns"),
    1e9: ("ns, not s", "s, not ns"),
}
_NEAR = 0.02
_BYTES = {
    8.0: "the rate were of bits, not of bytes",
    1 / 8: "the rate were of units of eight bytes",
    **dict.fromkeys(
        (1.024, 1.024**2, 1.024**3), "units of 1,000 bytes were read as units of 1,024"
    ),
    **dict.fromkeys(
        (1 / 1.024, 1 / 1.024**2, 1 / 1.024**3), "units of 1,024 bytes were read as units of 1,000"
    ),
}


def time_slip(share: float) -> str:
    """Return what the times would be, if a share of use is that of another unit; else nothing."""
    for factor, (smaller, larger) in _UNITS.items():
        if _BUSY[0] <= share / factor <= _BUSY[1]:
            return f"the times were {factor:,.0f} times shorter ({smaller})"
        if _BUSY[0] <= share * factor <= _BUSY[1]:
            return f"the times were {factor:,.0f} times longer ({larger})"
    return ""


def byte_slip(ratio: float) -> str:
    """Return what a rate of bytes would be that is off by a factor; else nothing."""
    near = (words for factor, words in _BYTES.items() if abs(ratio / factor - 1) < _NEAR)
    return next(near, "")
