"""What a part's validator says of an option."""


class WrongOption(ValueError):
    """A wrong option: what is wrong, what to do, and which options are concerned.

    Errors point at the first of `options`, as TOML writes them. `options` lists all that were
    checked, so errors of other options are reported as well.
    """

    def __init__(self, message: str, *options: str, hint: str = "") -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.message = message
        self.options = options
        self.hint = hint
