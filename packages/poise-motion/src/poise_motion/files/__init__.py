"""Files: bodies by parameters, studios' formats, and what policies are trained on."""
