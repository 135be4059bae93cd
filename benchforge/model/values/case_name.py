"""How people name a case, and the digest that identifies it."""

from pydantic import JsonValue, PositiveInt

from benchforge.model.values.frozen import Frozen


class CaseName(Frozen):
    """Labels of a case, and its identity."""

    scenario: str
    "Label of the scenario."
    server: str
    "Label of the server."
    driver: str
    "Label of the load tool or client."
    vary: dict[str, JsonValue]
    "Values of the varied options, by their paths in the suite."
    digest: str
    "Digest of the resolved options and the code, without labels."
    arm: PositiveInt = 1
    "Number of the arm; above 1 if the suite names the same case again: an A/A comparison."
    placebo: bool = False
    "True for a placebo: the second measurement of its scenario's first case."

    @property
    def title(self) -> str:
        """Title of the case: scenario, server, driver and varied options."""
        words = [f"{path.rpartition('.')[2]}={value}" for path, value in self.vary.items()]
        arm = [f"arm {self.arm}"] if self.arm > 1 else []
        if self.placebo:
            arm = ["placebo"]
        return " · ".join([self.scenario, self.server, self.driver, *words, *arm])
