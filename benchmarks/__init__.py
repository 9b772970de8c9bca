"""Benchmarks of neardup: ``run.py`` runs all sections; every folder is one subject."""
