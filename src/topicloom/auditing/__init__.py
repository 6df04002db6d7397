"""Audits: read existing configurations of brokers, follow messages through them, and say what is wrong."""

from topicloom.auditing.audit import KINDS, audit
from topicloom.auditing.audit_findings import AuditedRow, Finding, Findings, Place
from topicloom.auditing.message_paths import Outcome, follow
from topicloom.auditing.mosquitto_mesh import MosquittoMesh

__all__ = ["KINDS", "AuditedRow", "Finding", "Findings", "MosquittoMesh", "Outcome", "Place", "audit", "follow"]
