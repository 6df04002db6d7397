"""The examples in the docstrings of the pipeline and of streams do what they show."""

import doctest
import sys
from pathlib import Path

import pytest

import topicloom
from topicloom import pipeline, stream

PACKAGE = Path(topicloom.__file__).parent


def examples():
    """Every example below topicloom.pipeline and topicloom.stream, by the name of what it explains."""
    for folder in ("steps", "dc", "rounds", "stream"):
        for path in sorted((PACKAGE / "spark" / folder).rglob("*.py")):
            name = ".".join(("topicloom", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
            __import__(name)
            for found in doctest.DocTestFinder(exclude_empty=True).find(sys.modules[name], name):
                if found.examples:
                    yield pytest.param(found, id=found.name)


EXAMPLES = list(examples())


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_prints_what_it_shows(spark, example):
    said = []
    runner = doctest.DocTestRunner(verbose=False)
    example.globs["spark"] = spark
    runner.run(example, out=said.append)
    assert not runner.failures, "".join(said)


@pytest.mark.parametrize("package", [pipeline, stream])
def test_every_public_function_has_an_example(package):
    shown = {param.id.rpartition(".")[2] for param in EXAMPLES}
    assert {name for name in package.__all__ if not isinstance(getattr(package, name), type)} <= shown
