"""The least that a run on Spark can be: start, read a CSV file, distinct, write Parquet, stop. No code of topicloom."""

import os
import sys

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

from pyspark.sql import SparkSession

source, destination, *settings = sys.argv[1:]
builder = SparkSession.builder.master("local[*]")
for setting in settings:
    key, _, value = setting.partition("=")
    builder = builder.config(key, value)
spark = builder.getOrCreate()
spark.read.csv(source, header=True).distinct().write.mode("overwrite").parquet(destination)
spark.stop()
