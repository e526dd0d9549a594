"""IKLink (Wang, Sifferman and Gleicher 2024): a long trajectory with few reconfigurations."""
