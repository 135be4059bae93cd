"""Checks of a trial, a comparison and a result: pure functions, a file a family.

A check that does not apply yields nothing. One that lacks a number is unknown, and says why. CPU
time of the trial's own parts is co-location (P1), and fails no check that looks for others.
"""
