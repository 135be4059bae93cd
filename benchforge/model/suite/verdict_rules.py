"""Which questions are judged together, and how many false answers are allowed among them."""

from typing import Literal

from benchforge.model.values.frozen import Frozen


class VerdictRules(Frozen):
    """The table [verdicts]: how verdicts allow for the number of questions."""

    family: Literal["run", "scenario"] = "run"
    "Questions that are judged together: all of the run, or those of each scenario and metric."
    correction: Literal["benjamini-hochberg", "holm"] = "benjamini-hochberg"
    """Error that is held at 5 %: with `benjamini-hochberg` the expected share of false verdicts \
among those that answer, with `holm` the probability of any false difference."""
