"""Servers that are a script of the shell."""

import sys

from front_door import PROGRAMS


def program(name: str, *words: object) -> str:
    """A shell's words that run one of our programs."""
    return " ".join(["exec", *map(str, (sys.executable, PROGRAMS / f"{name}.py", *words))])


def shell(script: str, ready_within: str = "5s") -> str:
    """A server that is a script of the shell, which has its port in $1."""
    words = f"""["sh", "-c", '''{script}''', "-", "{{port}}"]"""
    return f'use = "command"\ncommand = {words}\nready_within = "{ready_within}"\n'
