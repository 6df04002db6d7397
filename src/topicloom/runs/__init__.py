"""One layer of runs: what is asked for, the work in one process over Arrow tables, and who carries it out.

A command, or a call of the library, goes through `carriers`, or through the functions over rows that a carrier runs:
`design_rows`, `verify_rows`, `measure_rows`, `compare_rows`. No module of this folder needs Spark. Tasks of Spark that
share the rows give the same rows, ids, links, metrics and fingerprint.
"""
