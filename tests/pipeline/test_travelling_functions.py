"""What the pipeline sends to Python workers."""

import importlib
import pkgutil

import pytest
from numba.core.dispatcher import Dispatcher

from topicloom import pipeline

MODULES = [module.name for module in pkgutil.walk_packages(pipeline.__path__, "topicloom.pipeline.")]


@pytest.mark.parametrize("name", MODULES)
def test_no_kernel_travels(name):
    """A kernel that travels with a function is compiled again by every worker of every run.

    A function made inside another takes along the names it uses; plain functions of other modules travel by name, so
    kernels are called through those.
    """
    assert not [key for key, value in vars(importlib.import_module(name)).items() if isinstance(value, Dispatcher)]
