"""Print which message brokers are installed here: tests and rehearsals run these versions."""

from collections.abc import Callable

from topicloom.brokers.mosquitto.run_mosquitto import mosquitto_version
from topicloom.brokers.nats.run_nats import nats_version
from topicloom.brokers.rabbitmq.run_rabbitmq import rabbitmq_version
from topicloom.brokers.zenoh.run_zenoh import zenoh_version
from topicloom.errors import BrokerUnavailableError


def found(version: Callable[[], str]) -> str:
    try:
        return version()
    except BrokerUnavailableError as error:
        return f"none ({error})"


if __name__ == "__main__":
    kinds = {"mosquitto": mosquitto_version, "nats-server": nats_version, "eclipse-zenoh": zenoh_version}
    kinds["rabbitmq-server"] = rabbitmq_version
    print("brokers:", ", ".join(f"{name} {found(version)}" for name, version in kinds.items()))
