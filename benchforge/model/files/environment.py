"""Which facts about a machine a comparison rests on, and a digest of them."""

import hashlib
import json
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

HARD = (
    *("machine_id", "virtual", "virtualization"),
    *("cpu", "cpu_family", "cpu_stepping", "microcode", "machine"),
    *("cpus", "cpus_usable", "sockets", "cores", "smt", "caches", "numa_nodes"),
    *("cpus_online", "cpus_isolated", "cpus_nohz_full"),
    *("governor", "scaling_driver", "frequency_khz", "boost", "no_turbo", "energy_preference"),
    *("mains", "power_profile"),
    *("mitigations", "kernel", "kernel_version", "kernel_arguments"),
    *("memory_kb", "swap_kb", "huge_pages", "clocksource", "control_group"),
    *("sysctl", "loopback_mtu", "limits", "python", "root"),
    "hosts",
)
"A change of one of them forbids to compare with numbers from before."

SOFT = (
    *("hostname", "system", "libc", "idle_driver", "aslr", "same_page_merging", "clock_sync"),
    "scratch_file_system",
)
"Shown where results differ."

# All the others are volatile: they are another at each look.


def hard(facts: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the hard facts, in their order; one that the machine does not tell is None."""
    return {name: facts[name] for name in HARD if name in facts}


def fingerprint(facts: Mapping[str, JsonValue]) -> str:
    """Return the digest of the hard facts: SHA-256 of their JSON, sorted by name."""
    text = json.dumps(hard(facts), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def changes(then: Mapping[str, JsonValue], now: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yield each hard fact that both know and that is another, in a word: was this, is that."""
    for name in HARD:
        if name in then and name in now and then[name] != now[name]:
            yield from _changes(name, then[name], now[name])


def _changes(name: str, then: JsonValue, now: JsonValue) -> Iterator[str]:
    if isinstance(then, dict) and isinstance(now, dict):
        for key in sorted(then.keys() | now.keys()):
            if then.get(key) != now.get(key):
                yield from _changes(f"{name}.{key}", then.get(key), now.get(key))
    else:
        yield f"{name} was {_shown(then)}, is {_shown(now)}"


def _shown(value: JsonValue) -> str:
    return "unknown" if value is None else repr(value)
