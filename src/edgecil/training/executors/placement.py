"""Placement: which device the next job goes to, and how many jobs a device can have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from edgecil.errors import UsageError
from edgecil.io.device import choose_device, cores, free_memory

_SHARE = 0.9  # of a device's free memory that jobs may use
_CONTEXT = 2**29  # assumed bytes of a GPU that a process uses besides torch's own memory


class Placement:
    """Sends each job to the device with the fewest jobs.

    Without a given number, a GPU starts with one job at a time, and a processor with `most`. The
    largest peak of finished jobs, with the context of a process on a GPU, then determines how many
    fit, at most `most`, because later tasks may need more. A job that runs out of memory beside
    others lowers the number of its device. On all devices together there are at most `total`.
    The `limits` are the numbers of jobs at the same time.
    """

    def __init__(
        self,
        devices: Sequence[str],
        *,
        most: int,
        per_device: int | None = None,
        total: int | None = None,
        free: Callable[[str], int] | None = None,
    ) -> None:
        self.devices = tuple(dict.fromkeys(devices))
        self._most, self._total = most, total
        self._room = {name: (free or free_on)(name) for name in self.devices}
        # Devices whose number is given, or for which measurements were too optimistic.
        self._fixed = set(self.devices if per_device is not None else ())
        self._largest = dict.fromkeys(self.devices, 0)  # peak of a job
        self._context = {name: 0 if name.startswith("cpu") else _CONTEXT for name in self.devices}
        self.limits = {
            name: per_device or (most if name.startswith("cpu") else 1) for name in self.devices
        }

    @property
    def capacity(self) -> int:
        """The number of jobs at the same time on all devices."""
        fitting = sum(self.limits.values())
        return fitting if self._total is None else min(fitting, self._total)

    def choose(self, running: Mapping[str, int]) -> str | None:
        """Return the device for the next job; None if all have as many as they can.

        Among devices with equally many jobs, the one that had the most free memory at the start.
        """
        if sum(running.values()) >= self.capacity:
            return None
        free = [name for name in self.devices if running.get(name, 0) < self.limits[name]]
        return min(free, key=lambda name: (running.get(name, 0), -self._room[name]), default=None)

    def learn(self, device: str, memory: int, room: int = 0) -> None:
        """Determine the number of jobs of a device from the memory of a finished one.

        `room` is what torch could have of a GPU in a process that was alone there; what is missing
        from the memory that was free before it began is its context. 0 if it is unknown.
        """
        if 0 < room < self._room[device]:
            self._context[device] = self._room[device] - room
        self._largest[device] = max(self._largest[device], memory)
        if memory > 0 and device not in self._fixed:
            need = self._largest[device] + self._context[device]
            self.limits[device] = max(1, min(self._most, int(_SHARE * self._room[device] // need)))

    def lower(self, device: str, running: int) -> bool:
        """Allow one job fewer than ran when one had too little memory; whether that may help."""
        if running < 2:
            return False
        self.limits[device] = min(self.limits[device], running - 1)
        self._fixed.add(device)
        return True


def place(
    devices: Sequence[str] | None, *, workers: int | None, per_device: int | None, threads: int
) -> Placement:
    """Return the placement for the devices that a user gives."""
    names = expand_devices(devices) if devices else ("cpu",)
    most = max(1, cores() // threads // len(names))
    if workers is not None and per_device is not None:
        raise UsageError("Give either `workers` or `workers_per_device`, not both.")
    if workers is not None:
        per_device = -(-workers // len(names))
    return Placement(names, most=most, per_device=per_device, total=workers)


def expand_devices(devices: Sequence[str]) -> tuple[str, ...]:
    """Return names of devices that exist; `all` stands for every GPU."""
    import torch

    if "all" not in devices:
        return tuple(choose_device(name) for name in devices)
    count = torch.cuda.device_count()
    if not count:
        raise UsageError(
            "`devices` is 'all', but torch finds no GPU on this machine; leave it out."
        )
    return tuple(f"cuda:{index}" for index in range(count))


def free_on(device: str) -> int:
    """Return bytes of memory that are free on a device."""
    if not device.startswith("cuda"):
        return free_memory()
    import torch

    return int(torch.cuda.mem_get_info(device)[0])
