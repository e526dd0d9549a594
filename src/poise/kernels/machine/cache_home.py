"""Where what took a while to make is kept."""

import os
from pathlib import Path

import platformdirs


def cache_home() -> Path:
    """The folder that POISE_CACHE_DIR names, or that of the user's caches."""
    home = os.environ.get("POISE_CACHE_DIR")
    return Path(home).absolute() if home else Path(platformdirs.user_cache_dir("poise", appauthor=False))
