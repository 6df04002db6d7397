"""Audits: read existing configurations of brokers, follow messages through them, and say what is wrong."""

from topicloom.auditing.audit import KINDS, audit
from topicloom.auditing.following import Outcome, follow
from topicloom.auditing.mesh import MosquittoMesh
from topicloom.auditing.records import AuditedRow, Finding, Findings, Place

__all__ = ["KINDS", "AuditedRow", "Finding", "Findings", "MosquittoMesh", "Outcome", "Place", "audit", "follow"]
