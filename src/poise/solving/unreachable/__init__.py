"""Proofs that a target is out of reach, and what checks one."""
