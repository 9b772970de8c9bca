"""What presets find: texts with known changes, and the table of docs/presets.md."""
