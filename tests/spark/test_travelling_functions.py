"""What the pipeline sends to Python workers."""

import importlib
import pkgutil

import pytest
from numba.core.dispatcher import Dispatcher

from topicloom.spark import dc, rounds, steps

MODULES = [
    module.name
    for package in (steps, dc, rounds)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]


@pytest.mark.parametrize("name", MODULES)
def test_no_kernel_travels(name):
    """A kernel that travels with a function is compiled again by every worker of every run.

    A function made inside another takes along the names it uses; plain functions of other modules travel by name, so
    kernels are called through those.
    """
    assert not [key for key, value in vars(importlib.import_module(name)).items() if isinstance(value, Dispatcher)]
