"""Programs in C on other processors, by cross compilers and QEMU."""

from __future__ import annotations

import subprocess
from pathlib import Path

CORTEX_M7 = Path(__file__).parent / "cortex_m7"
FLAGS = ("-std=c99", "-O2", "-Wall", "-Wextra", "-pedantic", "-Werror")
_M7 = ("arm-none-eabi-gcc", "-mcpu=cortex-m7", "-mfloat-abi=hard")


def compiler(processor: str, dtype: str = "float64") -> list[str]:
    """The command that compiles C for a processor: x86-64, that of this machine; aarch64; or Cortex-M7."""
    unit = "fpv5-d16" if dtype == "float64" else "fpv5-sp-d16"
    commands = {"x86-64": ["gcc"], "aarch64": ["aarch64-linux-gnu-gcc"], "Cortex-M7": [*_M7, f"-mfpu={unit}"]}
    return commands[processor]


def run(command: list[str], folder: Path) -> str:
    """What a command prints; it fails with what it says."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    assert not done.returncode, f"{' '.join(command)}\n{done.stderr}"
    return done.stdout


def printed(processor: str, source: Path, *flags: str, dtype: str = "float64") -> str:
    """What a C file with a main prints on a processor; its warnings are errors."""
    cc, folder, program = compiler(processor, dtype), source.parent, f"{source.stem}_{processor}"
    run([*cc, *FLAGS, *flags, "-c", source.name, "-o", f"{program}.o"], folder)
    if processor == "x86-64":
        run([*cc, f"{program}.o", "-o", program, "-lm"], folder)
        return run([f"./{program}"], folder)
    if processor == "aarch64":
        run([*cc, "-static", f"{program}.o", "-o", program, "-lm"], folder)
        return run(["qemu-aarch64", program], folder)
    link = ["-nostartfiles", "--specs=rdimon.specs", "-T", str(CORTEX_M7 / "mps2_an500.ld")]
    run([*cc, "-O2", f"{program}.o", str(CORTEX_M7 / "start.c"), *link, "-o", program, "-lm"], folder)
    machine = ["-M", "mps2-an500", "-nographic", "-semihosting-config", "enable=on,target=native"]
    return run(["qemu-system-arm", *machine, "-kernel", program], folder)
