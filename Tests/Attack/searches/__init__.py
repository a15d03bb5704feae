"""The seeded searches of `Tests/Attack/search`, one module for each."""
