"""What the machine did while a load ran: its clocks, heat, pressure, and quotas of groups."""

import os
import time
from pathlib import Path

import pytest

from benchforge.run.watch import group, machine


def test_the_machine_tells_what_it_did() -> None:
    cpus = sorted(os.sched_getaffinity(0))
    reader = machine.MachineReader(cpus)
    until_ = time.process_time() + 0.2
    while time.process_time() < until_:
        pass
    row = reader.row(fully=True)
    assert sum(row[f"cpu.{cpu}.busy_s"] for cpu in cpus) >= 0.15
    assert abs(row["clock.step_s"]) < 0.1
    assert row["paging.oom_kill"] >= 0
    assert row["net.time_wait"] >= 0
    assert row["net.TcpOutSegs"] >= 0


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def test_a_kernel_that_tells_nothing_gives_no_number(tmp_path: Path) -> None:
    reader = machine.MachineReader([0], tmp_path)
    assert reader.row(fully=True).keys() == {"clock.step_s"}
    assert machine.celsius(tmp_path) is None


CPU = "sys/devices/system/cpu/cpu"


def test_frequency_heat_and_quota_are_read_where_there_are_any(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            f"{CPU}0/cpufreq/scaling_cur_freq": "1800000\n",
            f"{CPU}1/cpufreq/scaling_cur_freq": "3600000\n",
            f"{CPU}0/thermal_throttle/core_throttle_count": "3\n",
            "sys/class/hwmon/hwmon0/temp1_input": "41500\n",
            "sys/class/hwmon/hwmon0/temp2_input": "255000\n",  # nothing is connected to it
            "sys/class/thermal/thermal_zone0/temp": "47000\n",
            "proc/self/cgroup": "0::/a/b\n",
            "sys/fs/cgroup/a/cpu.max": "50000 100000\n",
            "sys/fs/cgroup/a/cpu.stat": "usage_usec 5\nnr_throttled 4\nthrottled_usec 9\n",
            "sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
            "sys/fs/cgroup/a/b/cpu.stat": "usage_usec 5\nnr_throttled 7\n",
        },
    )
    reader = machine.MachineReader([0, 1], tmp_path)
    write(tmp_path, {f"{CPU}0/thermal_throttle/core_throttle_count": "5\n"})
    write(tmp_path, {"sys/fs/cgroup/a/cpu.stat": "usage_usec 5\nnr_throttled 6\n"})
    row = reader.row(fully=True)
    assert (row["cpu.0.mhz"], row["cpu.1.mhz"]) == (1800, 3600)
    assert (row["heat.throttled"], row["group.throttled"]) == (2, 2)
    assert machine.celsius(tmp_path) == 47


def test_the_quota_of_a_part_is_its_groups_and_the_smallest_above(tmp_path: Path) -> None:
    groups = "sys/fs/cgroup"
    write(
        tmp_path,
        {
            "proc/7/cgroup": "0::/a/b\n",
            "proc/8/cgroup": "0::/\n",
            f"{groups}/a/cpu.max": "12000 100000\n",
            f"{groups}/a/cpu.stat": "nr_throttled 4\n",
            f"{groups}/a/b/cpu.max": "200000 100000\n",
            f"{groups}/a/b/cpu.stat": "nr_throttled 0\n",
        },
    )
    quota = group.PartQuota([7, 8], tmp_path)
    write(tmp_path, {f"{groups}/a/cpu.stat": "nr_throttled 9\n"})
    assert quota.of(7) == (0.12, 5)
    assert quota.of(8) == (None, None)
    write(tmp_path, {"proc/9/cgroup": "0::/a\n"})  # it began later
    assert quota.of(9) == (0.12, 5)


@pytest.mark.parametrize(("quota", "groups"), [("-1", 0), ("20000", 1)])
def test_a_quota_of_version_1_is_seen(tmp_path: Path, quota: str, groups: int) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "4:memory:/x\n1:cpu,cpuacct:/x\n0::/\n",
            "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us": f"{quota}\n",
            "sys/fs/cgroup/cpu,cpuacct/x/cpu.stat": "nr_periods 1\nnr_throttled 2\n",
        },
    )
    assert [group.throttled(item) for item in group.with_quota(tmp_path)] == [2] * groups


@pytest.mark.parametrize(("flags", "columns"), [("fpu aperfmperf", 1), ("fpu hypervisor", 0)])
def test_a_rated_frequency_is_not_real(tmp_path: Path, flags: str, columns: int) -> None:
    text = f"processor\t: 0\nflags\t\t: {flags}\ncpu MHz\t\t: 2596.152\n"
    write(tmp_path, {"proc/cpuinfo": text})
    row = machine.MachineReader([0], tmp_path).row(fully=True)
    assert [row[name] for name in row if name.endswith("mhz")] == [2596.152] * columns
