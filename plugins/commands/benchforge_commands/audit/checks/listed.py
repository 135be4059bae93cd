"""All checks, by the code that their findings have."""

from collections.abc import Mapping

from benchforge_commands.audit.checks import counts, failures, load, runs, tables, times, use
from benchforge_commands.audit.finding import RowCheck, TableCheck

OF_ROWS: Mapping[str, RowCheck] = {
    "AL1": load.under_way,
    "AL2": load.idle,
    "AL3": load.tail,
    "AL4": load.iterations,
    "AL5": load.made_up,
    "AP1": times.order,
    "AM1": times.mean_between,
    "AM2": times.mean_of_percentiles,
    "AV1": times.deviation,
    "AT1": times.within_load,
    "AC1": counts.rate_times_duration,
    "AC2": counts.wall_clock,
    "AC3": counts.same_length,
    "AC4": counts.totals,
    "AC5": counts.successes,
    "AB1": counts.bytes_per_second,
    "AB2": counts.body,
    "AB3": counts.link,
    "AU1": counts.cpu,
    "AE1": failures.failed,
    "AE2": failures.lost,
    "AE3": failures.checks_failed,
    "AE4": failures.left_out,
    "AS1": failures.samples,
    "AR1": runs.computed,
    "AR2": runs.derived,
}
OF_TABLES: Mapping[str, TableCheck] = {
    "AX1": tables.copies,
    "AX2": tables.mean_is_percentile,
    "AF1": tables.misnamed,
    "AC6": tables.sums,
    "AB4": tables.sizes,
    "AN1": runs.neighbours,
    "AN2": tables.unknown_spread,
}
OF_SOURCES: Mapping[str, TableCheck] = {"AL6": use.duration}
EXPLAINS: Mapping[str, str] = {"AL6": "AL2"}
"A finding of the first code explains those of the second: idle connections by a wrong duration."
