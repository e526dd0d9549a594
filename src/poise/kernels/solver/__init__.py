"""The search: Levenberg-Marquardt from one start, then from eight side by side; batches, postures, soft tasks."""
