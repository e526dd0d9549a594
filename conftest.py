"""What the tests of all packages share."""

pytest_plugins = ["support.session"]
