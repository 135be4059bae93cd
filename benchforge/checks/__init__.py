"""Whether a trial, a comparison or a session is to be believed: pure functions, a file a family.

A check that does not apply, such as the schedule of a closed loop, yields nothing. One that applies
and lacks a number is unknown, and says why. What another part of the trial did to the same CPUs is
co-location: it is declared (P1), and alone it is no failure of a check that looks for others.
"""
