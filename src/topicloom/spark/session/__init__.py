"""Spark at run time: sessions, Java and its options, shipping the package, memory, warm kernels, stages.

Library users, the demo, the benchmarks and the commands use it.
"""
