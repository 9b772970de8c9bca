"""Archives, whose members are read like the files of a folder."""
