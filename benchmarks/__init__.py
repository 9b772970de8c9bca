"""What neardup is measured by: ``run.py`` runs it all, and every folder is one subject."""
