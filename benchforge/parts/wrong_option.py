"""What a part's validator says of an option."""


class WrongOption(ValueError):
    """An option that cannot be as it is: what is wrong, what to do, and which options it is about.

    The first of `options`, as TOML writes them, is the one to change: errors point at it. They are
    all that were looked at: it is told beside the faults of other options, not of these.
    """

    def __init__(self, message: str, *options: str, hint: str = "") -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.message = message
        self.options = options
        self.hint = hint
