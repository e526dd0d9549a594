"""The compiled core: arrays in, arrays and numbers out; it knows nothing of models, tasks or files."""
