"""Memory or descriptors that ran out: found in an error, with nothing more imported."""

import errno
import os
import re

_SHORT = re.compile(".*failed to map|error return without|<function .* returned NULL without")
"What the dynamic linker and the interpreter say of memory that ran out."


def used_up(error: BaseException | None) -> str:
    """Return the lines for memory or descriptors that ran out, as an error or its causes say."""
    while error is not None:
        number = getattr(error, "errno", None)
        text = str(error) if isinstance(error, ImportError | SystemError) else ""
        ran_out = _SHORT.match(text)
        if isinstance(error, MemoryError) or number == errno.ENOMEM or ran_out:
            return "memory ran out\nhint: raise the limit (ulimit -v), or end other programs"
        if number in {errno.EMFILE, errno.ENFILE} or text.endswith("Error 24"):
            says = f"{os.strerror(number or errno.EMFILE)}: all descriptors are in use"
            return f"{says}\nhint: raise the limit (ulimit -n 1024), or end other programs"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return ""
