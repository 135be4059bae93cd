"""All checks, by the code that their findings have."""

from collections.abc import Collection, Mapping

from benchforge.cli.results.audit.checks import (
    counts,
    failures,
    load,
    ports,
    runs,
    slips,
    tables,
    times,
    use,
)
from benchforge.cli.results.audit.finding import RowCheck, TableCheck

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
    "AC7": counts.negative,
    "AB1": counts.bytes_per_second,
    "AB2": counts.body,
    "AB3": counts.link,
    "AU1": counts.cpu,
    "AE1": failures.failed,
    "AE2": failures.lost,
    "AE3": failures.checks_failed,
    "AE4": failures.left_out,
    "AS1": failures.samples,
    "AK2": ports.ports,
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
OF_SOURCES: Mapping[str, TableCheck] = {
    "AL6": use.duration,
    "AX3": slips.unit_of_times,
    "AX4": slips.unit_of_bytes,
}
EXPLAINS: Mapping[str, Collection[str]] = {"AL6": {"AL2"}, "AX3": {"AL1", "AL2", "AL6"}}
"A finding of the first code explains those of the others: idle connections by a wrong duration."
