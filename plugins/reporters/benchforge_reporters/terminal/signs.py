"""The sign and the colour of each state, alike in all texts for a terminal."""

from typing import Final

from benchforge_reporters.document.answers import AnswerState
from benchforge_reporters.document.causes import CauseClass
from benchforge_reporters.document.claim_lines import SIGNS, ClaimState
from benchforge_reporters.terminal.paint import Meaning

Sign = tuple[str, Meaning]
ANSWERS: Final[dict[AnswerState, Sign]] = {
    "differs": ("✔", "good"),
    "same": ("≈", "heading"),
    "alone": ("·", "aside"),
    "undecided": ("?", "limits"),
    "not comparable": ("!", "limits"),
    "broken": ("✕", "bad"),
}
CLAIMS: Final[dict[ClaimState, Sign]] = {
    "holds": (SIGNS["holds"], "good"),
    "not comparable": (SIGNS["not comparable"], "limits"),
    "fails": (SIGNS["fails"], "bad"),
    "inconclusive": (SIGNS["inconclusive"], "limits"),
    "invalid": (SIGNS["invalid"], "bad"),
}
CAUSES: Final[dict[CauseClass, Sign]] = {
    "invalid": ("✕", "bad"),
    "limits": ("!", "limits"),
    "setup": ("i", "do"),
    "dealt with": ("✓", "aside"),
    "expert": ("·", "aside"),
}
