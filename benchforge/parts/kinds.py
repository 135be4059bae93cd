"""The kinds of parts."""

from typing import Literal, get_args

Kind = Literal["server", "backend", "loader", "client", "metric", "reporter", "reader"]
GROUP = "benchforge"
"Group of the entry points of parts."
KINDS: tuple[Kind, ...] = get_args(Kind)
OF_SUITES = KINDS[:5]
"Those of the parts that a suite declares."
