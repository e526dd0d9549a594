"""Configurations over time: `Motion`, its files and tables."""
