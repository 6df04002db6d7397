"""A whole run in one process, over Arrow tables: ``--engine memory``, and the one task of a small run on Spark.

No module of this folder needs Spark. The distributed pipeline gives the same rows, ids, links, metrics and fingerprint.
"""
