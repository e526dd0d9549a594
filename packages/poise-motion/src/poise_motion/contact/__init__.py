"""Contacts found in motions: feet on the ground, hands on objects, bodies that lie."""
