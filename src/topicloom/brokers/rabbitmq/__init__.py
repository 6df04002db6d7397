"""RabbitMQ: what is written for it, rehearsed on it, and read from it."""

from topicloom.brokers.kinds import Kind
from topicloom.brokers.rabbitmq.rabbitmq import RabbitMq
from topicloom.brokers.rabbitmq.run_rabbitmq import RunRabbitMq

KIND = Kind("rabbitmq", "RabbitMQ", RabbitMq(), RunRabbitMq)
