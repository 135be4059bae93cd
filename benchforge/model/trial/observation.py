"""What was seen from outside while something was measured."""

from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from benchforge.model.values.frozen import Frozen

Role = Literal["server", "upstream", "backend", "loader"]


class Usage(Frozen):
    """What one part used between the start and the end of the load; None where it is not known.

    usage.csv beside the trial has it over time.
    """

    label: str
    "Of the part in the suite."
    role: Role
    "What it was in this trial."
    cpu_s: NonNegativeFloat | None
    "User and system time of all its processes, ended children included."
    peak_pss_bytes: NonNegativeInt | None
    "The largest sum of proportional set sizes that was seen."
    pss_samples: NonNegativeInt = 0
    "How often its memory was read."
    processes: NonNegativeInt | None = None
    "How many it had when the load ended."
    why: str = ""
    "Why something is not known."
    process_cpu_s: tuple[NonNegativeFloat, ...] = ()
    "CPU time of each process that was there at the end, the largest first."
    busiest_thread_cpu_s: NonNegativeFloat | None = None
    "CPU time of the busiest thread."
    busy_threads: NonNegativeInt | None = None
    "Threads that used at least 5 % of a CPU."
    cpu_wait_s: NonNegativeFloat | None = None
    "Time in which its threads could have run and waited for a CPU, all together."
    voluntary_switches: NonNegativeInt | None = None
    "Context switches of threads that waited for something."
    involuntary_switches: NonNegativeInt | None = None
    "Context switches of threads that had to leave the CPU."
    major_faults: NonNegativeInt | None = None
    "Pages that had to be read from a disk."
    memory_growth: float | None = None
    """By what share its memory grew: the Theil-Sen slope of its proportional set size, times the
    length of the load, over the median."""
    printed_bytes: NonNegativeInt | None = None
    "What it printed, and by how much the regular files grew that it has open for writing."
    ended_processes: NonNegativeInt | None = None
    "Processes that were there when the load began, and not when it ended."
    new_processes: NonNegativeInt | None = None
    "Processes that were there when the load ended, and not when it began."
    open_files_limit: NonNegativeInt | None = None
    "How many descriptors a process may have open: the smallest soft limit among its processes."
    development_signs: tuple[str, ...] = ()
    """Signs in /proc of a development mode, a tracer or an instrument, such as
    "debug: --reload" or "instrument: TracerPid 17"."""


class Foreign(Frozen):
    """A process that is no part of the trial."""

    program: str
    "Its name, as the kernel has it."
    cpu_s: NonNegativeFloat
    "What it used during the load."


class MachineUsage(Frozen):
    """What the whole machine did during the load; None where the kernel does not tell.

    system.csv beside the trial has it over time.
    """

    cpus: PositiveInt
    "How many CPUs we may use: busy, stolen and frequency are of these."
    busy_s: NonNegativeFloat | None = None
    "CPU time of everybody, ours included."
    stolen_s: NonNegativeFloat | None = None
    "What the hypervisor gave to others."
    busy_by_cpu_s: dict[int, NonNegativeFloat] = Field(default_factory=dict)
    "`busy_s` by the number of the CPU."
    pressure: dict[str, NonNegativeFloat] = Field(default_factory=dict)
    "Seconds in which something stood still, such as cpu.some, io.some and memory.full."
    paging: dict[str, NonNegativeInt] = Field(default_factory=dict)
    "How much pswpin, pswpout and oom_kill grew."
    throttled: NonNegativeInt | None = None
    "How often the quota of our control group stopped us; None without one."
    overheated: NonNegativeInt | None = None
    "How often a CPU was slowed down for its heat."
    frequency_mhz: tuple[NonNegativeFloat, NonNegativeFloat, NonNegativeFloat] | None = None
    "The lowest, the mean and the highest that was seen."
    temperature_c: tuple[float, float] | None = None
    "The highest of all sensors, before the load and after it."
    load_average: NonNegativeFloat | None = None
    "Of the minute before the load."
    clock_step_s: float | None = None
    "By how much the wall clock moved against the monotonic clock."
    longest_gap_s: NonNegativeFloat | None = None
    "The longest time of the load between two samples."
    time_wait_sockets: NonNegativeInt | None = None
    "Sockets in TIME_WAIT when the load ended, of the trial's network."
    ephemeral_ports: PositiveInt | None = None
    "Number of ports for outgoing connections."
    foreign: tuple[Foreign, ...] = ()
    "Those that used most, at most ten."


class NetworkFlow(Frozen):
    """What the trial's network sent, bin by bin, in place of responses that no tool tells."""

    bin_s: PositiveFloat
    "Seconds of each bin; the first begins with the load."
    sent: tuple[NonNegativeInt, ...]
    "By how much the counter grew."
    counter: str
    "Which one, such as TcpOutSegs."


class Observation(Frozen):
    """One load, seen from outside."""

    seconds: NonNegativeFloat
    "From the start of the tool to its end: its own set-up and reports included."
    usage: tuple[Usage, ...]
    "By part."
    network: Literal["private", "host"]
    "Whether the trial had a network of its own."
    counters: dict[str, int]
    "How much each counter of the network grew; of the whole machine where network is host."
    foreign_connections: str = ""
    "Why the counters hold connections of others than the driver; empty when they hold none."
    sampler_cpu_s: NonNegativeFloat
    "CPU time of benchforge itself meanwhile."
    samples: NonNegativeInt = 0
    "Rows of system.csv; usage.csv has as many for a part, or fewer of one with many processes."
    machine: MachineUsage | None = None
    "None where only what parts used was looked at."
    flow: NetworkFlow | None = None
    "None where the network's counters are not those of the trial."
