"""What several commands take alike."""

from collections.abc import Iterable

from benchforge.errors import Unusable


def pairs(settings: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return path and value of each --set. Raises Unusable for one without a value."""
    split = [setting.partition("=") for setting in settings]
    for path, equals, _ in split:
        if not equals:
            hint = "write it like --set servers.django.workers=2"
            raise Unusable(f"--set {path}: no '=' in it", hint)
    return tuple((path, value) for path, _, value in split)
