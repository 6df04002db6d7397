"""Scripts that tests run in processes of their own."""

# Put before a script that uses Spark. It ends as a command does (see `topicloom.cli.app.entry`): taking CPython apart
# under threads of Arrow and PySpark would abort now and then. A script that does not reach its end has exit code 1.
ENDS_LIKE_A_COMMAND = """
import atexit, os, sys
ended = []
def end_now():
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0 if ended else 1)
atexit.register(end_now)
"""
