"""Windows of texts by MonoActive (2025), MonoAll and AllAlign: docs/papers/monoactive.md."""
