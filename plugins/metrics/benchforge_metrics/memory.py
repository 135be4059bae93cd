"""Memory, without counting shared pages twice."""

from typing import TYPE_CHECKING, ClassVar

from benchforge.plugin import Role, Window
from benchforge_metrics.of_reading import ByRole, Estimated

if TYPE_CHECKING:
    from benchforge.plugin import Trial, Usage


class Memory(ByRole):
    """The largest observed memory of a role's processes during the load.

    That is their proportional set sizes, and the shared memory (memfd and /dev/shm) that they hold
    open without mapping it.

    For several parts with one role, the largest values are added, although they may have occurred
    at different times.
    """

    name: ClassVar[str] = "memory"
    unit: ClassVar[str] = "B"

    of: tuple[Role, ...] = ("server", "upstream", "backend")
    "Role of the processes whose memory counts."

    def of_role(self, trial: "Trial", uses: "list[Usage]", window: Window) -> Estimated:
        peaks = [usage.peak_pss_bytes for usage in uses if usage.peak_pss_bytes is not None]
        if len(peaks) < len(uses):
            reason = "; ".join(u.why for u in uses if u.peak_pss_bytes is None and u.why)
            return None, reason or "its memory was not measured"
        samples = min(usage.pss_samples for usage in uses)
        return sum(peaks), ", ".join(filter(None, (f"largest of {samples} samples", window.whole)))
