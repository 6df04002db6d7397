"""Let the doctests of one file run alone.

pytest imports that file by itself, and puts the module where its package had a function of the same name. So the public
names are looked up before. Examples that need Spark run in tests/spark/test_examples_on_spark.py, on its session.
"""

import topicloom

for name in topicloom.__all__:
    getattr(topicloom, name)

collect_ignore_glob = [f"topicloom/spark/{folder}/*" for folder in ("steps", "dc", "rounds", "stream")]
