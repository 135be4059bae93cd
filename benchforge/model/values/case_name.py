"""How people name a case, and the digest that identifies it."""

from pydantic import JsonValue, PositiveInt

from benchforge.model.values.frozen import Frozen


class CaseName(Frozen):
    """How people speak of a case, and what it is: labels beside its identity."""

    scenario: str
    "Its label."
    server: str
    "Its label."
    driver: str
    "The label of the loader or client."
    vary: dict[str, JsonValue]
    "The varied options at this point, by their paths in the suite."
    digest: str
    "Of the resolved options and the code; labels do not count."
    arm: PositiveInt = 1
    "Above 1 where the suite names the same thing twice: an A/A comparison."
    placebo: bool = False
    "Whether it is the first case of its scenario once more, to see what differs by itself."

    @property
    def title(self) -> str:
        """For a person: scenario, server, driver and what varies."""
        words = [f"{path.rpartition('.')[2]}={value}" for path, value in self.vary.items()]
        arm = [f"arm {self.arm}"] if self.arm > 1 else []
        if self.placebo:
            arm = ["placebo"]
        return " · ".join([self.scenario, self.server, self.driver, *words, *arm])
