"""Recall of presets on changed texts: the tables of docs/presets.md."""
