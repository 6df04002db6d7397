"""Audits: read existing configurations of brokers, follow messages through them, and say what is wrong."""

from topicloom.brokers.auditing.audit import KINDS, audit
from topicloom.brokers.auditing.audit_findings import AuditedRow, Finding, Findings, Place
from topicloom.brokers.auditing.message_paths import Outcome, follow
from topicloom.brokers.mosquitto.mosquitto_mesh import MosquittoMesh

__all__ = ["KINDS", "AuditedRow", "Finding", "Findings", "MosquittoMesh", "Outcome", "Place", "audit", "follow"]
