"""Observations from outside during a measurement."""

from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt
from pydantic.dataclasses import dataclass

from benchforge.model.values.case_name import Role
from benchforge.model.values.frozen import ROW, Frozen


@dataclass(frozen=True, slots=True, kw_only=True, config=ROW)
class Usage:
    """Resources that a part used from the start to the end of the load; None: unknown.

    usage.csv in the same folder has them over time.
    """

    label: str
    "Label of the part."
    role: Role
    "Role of the part in this trial."
    cpu_s: NonNegativeFloat | None
    "User and system time of all processes of the part, including ended children."
    peak_pss_bytes: NonNegativeInt | None
    """Largest observed sum of proportional set sizes, and of the shared memory (memfd and /dev/shm)
    that the part holds open without mapping it."""
    pss_samples: NonNegativeInt = 0
    "Number of readings of the memory."
    processes: NonNegativeInt | None = None
    "Number of processes at the end of the load."
    why: str = ""
    "Reason why a value is unknown."
    process_cpu_s: tuple[NonNegativeFloat, ...] = ()
    "CPU time of each process that existed at the end, the largest first."
    busiest_thread_cpu_s: NonNegativeFloat | None = None
    "CPU time of the busiest thread."
    busy_threads: NonNegativeInt | None = None
    "Number of threads that used at least 5 % of a CPU."
    cpu_wait_s: NonNegativeFloat | None = None
    "Total time in which threads were ready to run and waited for a CPU."
    voluntary_switches: NonNegativeInt | None = None
    "Context switches of threads that waited for something."
    involuntary_switches: NonNegativeInt | None = None
    "Context switches of threads that had to leave the CPU."
    major_faults: NonNegativeInt | None = None
    "Pages that were read from a disk."
    memory_growth: float | None = None
    """Relative growth of the memory: Theil-Sen slope of the proportional set size, times the length
    of the load, divided by the median."""
    printed_bytes: NonNegativeInt | None = None
    "Length of the printed output, plus the growth of regular files that are open for writing."
    printed_line: str = ""
    "Last line of the printed output at the end of the load; empty if it did not grow."
    ended_processes: NonNegativeInt | None = None
    "Number of processes that existed at the load's start, and not at its end."
    new_processes: NonNegativeInt | None = None
    "Number of processes that existed at the load's end, and not at its start."
    open_files_limit: NonNegativeInt | None = None
    "Limit of open descriptors: the smallest soft limit among the part's processes."
    quota_cpus: PositiveFloat | None = None
    "Quota of CPU time of the part's control group, in CPUs; None without a quota."
    throttled: NonNegativeInt | None = None
    "Number of times that this quota stopped the part during the load; None without a quota."
    development_signs: tuple[str, ...] = ()
    """Signs in /proc of a development mode, a tracer or an instrument, such as
    "debug: --reload", "instrument: TracerPid 17" or "loaded: _lsprof.so"."""


class Foreign(Frozen):
    """A process that is not part of the trial."""

    program: str
    "Name of the program, as the kernel reports it."
    cpu_s: NonNegativeFloat
    "CPU time of the process during the load."


class MachineUsage(Frozen):
    """Resources of the whole machine during the load; None if the kernel does not report them.

    system.csv in the same folder has them over time.
    """

    cpus: PositiveInt
    "Number of CPUs that benchforge may use. Busy and stolen time and frequency are theirs."
    busy_s: NonNegativeFloat | None = None
    "CPU time of all processes, including those of the trial."
    stolen_s: NonNegativeFloat | None = None
    "CPU time that the hypervisor gave to other machines."
    busy_by_cpu_s: dict[int, NonNegativeFloat] = Field(default_factory=dict)
    "CPU time of all processes, by the number of the CPU."
    pressure: dict[str, NonNegativeFloat] = Field(default_factory=dict)
    "Seconds of stalled processes by kind, such as cpu.some, io.some and memory.full."
    paging: dict[str, NonNegativeInt] = Field(default_factory=dict)
    "Increase of the counters pswpin, pswpout and oom_kill."
    throttled: NonNegativeInt | None = None
    "Number of times that the control group's quota stopped the processes; None without a quota."
    overheated: NonNegativeInt | None = None
    "Number of times that a CPU was slowed down because of its heat."
    frequency_mhz: tuple[NonNegativeFloat, NonNegativeFloat, NonNegativeFloat] | None = None
    "Lowest, mean and highest observed frequency, in MHz."
    temperature_c: tuple[float, float] | None = None
    "Highest temperature of all sensors before and after the load, in °C."
    load_average: NonNegativeFloat | None = None
    "Load average of the minute before the load."
    clock_step_s: float | None = None
    "Shift of the wall clock against the monotonic clock."
    longest_gap_s: NonNegativeFloat | None = None
    "Longest time between two samples during the load."
    time_wait_sockets: NonNegativeInt | None = None
    "Number of sockets in TIME_WAIT in the trial's network at the end of the load."
    ephemeral_ports: PositiveInt | None = None
    "Number of ports for outgoing connections."
    foreign: tuple[Foreign, ...] = ()
    "Foreign processes that used the most CPU time, at most ten."


class WorkAfter(Frozen):
    """Work of the server's processes after the load, until they idled or the watch ended."""

    cpu_s: NonNegativeFloat
    "CPU time of the server's processes in that time."
    seconds: NonNegativeFloat
    "Length of the watch. Later work is not observed."
    idle: bool
    "True if the server idled at the end of the watch: it used no CPU for a tenth of a second."


class NetworkFlow(Frozen):
    """Traffic of the trial's network over time, for tools that report no responses over time."""

    bin_s: PositiveFloat
    "Length of each bin. The first begins with the load."
    sent: tuple[NonNegativeInt, ...]
    "Increase of the counter in each bin."
    counter: str
    "Name of the counter, such as TcpOutSegs."


class Observation(Frozen):
    """Observations of one load from outside."""

    seconds: NonNegativeFloat
    "Time from the start of the tool to its end, including its set-up and reports."
    usage: tuple[Usage, ...]
    "Usage of each part."
    network: Literal["private", "host"]
    "Network of the trial: its own, or that of the host."
    counters: dict[str, int]
    """Increase of each network counter; of the whole machine if `network` is host. Opened
    connections are without those of the monitor."""
    foreign_connections: str = ""
    "Reason why the counters include connections of others than the driver; empty if they do not."
    sampler_cpu_s: NonNegativeFloat
    "CPU time of benchforge itself during the load, with that of the trial's monitor."
    unassigned_cpu_s: NonNegativeFloat | None = None
    "CPU time of the trial's processes that belong to no part, such as a task's daemon."
    unassigned_shared_bytes: NonNegativeInt | None = None
    "Size of files in the trial's /dev/shm that no part has open or mapped, at the load's end."
    after: WorkAfter | None = None
    "Work of the server after the load; None if it was not watched, as in later blocks."
    samples: NonNegativeInt = 0
    "Number of rows in system.csv. A part has as many in usage.csv, or fewer with many processes."
    machine: MachineUsage | None = None
    "Usage of the whole machine; None if only the parts were observed."
    flow: NetworkFlow | None = None
    "Network traffic over time; None if the network's counters are not the trial's own."
