"""All checks, in the order in which they are told."""

from program.doctor import machine, places, records, services
from program.doctor.check import Check

CHECKS: tuple[Check, ...] = (*services.CHECKS, *machine.CHECKS, *places.CHECKS, *records.CHECKS)
