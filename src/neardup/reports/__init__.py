"""Pages of job results: Report and its builders."""
