"""What tests of several rooms stand on: models, files, figures and readers of them."""
