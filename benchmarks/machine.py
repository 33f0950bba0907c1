"""What this machine is, in words that mean something elsewhere."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import psutil
from threadpoolctl import threadpool_info

from benchmarks import peers


def describe() -> dict[str, str]:
    """Give the machine's parts, and the versions of what was measured."""
    module = peers.torch()
    blas = [f"{b['internal_api']} {b['version']}" for b in threadpool_info() if b["user_api"] == "blas"]
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "BLAS": ", ".join(blas) or "unknown",
        "torch": module.__version__ if module else "not here",
        "busy": f"{busy():.1f} of {os.cpu_count()} cores were busy with other work when it began",
    }


def busy() -> float:
    """Give how many cores other programs use, measured over half a second."""
    return psutil.cpu_percent(interval=0.5) / 100 * (os.cpu_count() or 1)


def can_hold(size: int) -> bool:
    """Tell whether so many bytes are free, and a quarter more, so that the machine need not swap.

    >>> can_hold(1), can_hold(10**18)
    (True, False)
    """
    return 1.25 * size < psutil.virtual_memory().available


def processor(info: Path = Path("/proc/cpuinfo")) -> str:
    """Give the processor's name: Linux tells it in a file, other systems in `platform`."""
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"
