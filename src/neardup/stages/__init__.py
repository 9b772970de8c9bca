"""What several jobs are made of: plans, stages between the passes, tables that are read again."""
