"""Tools of all sections: processes, clocks, environments, results and tables."""
