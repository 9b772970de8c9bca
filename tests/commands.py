"""The options of every command, by the words of its name."""

from neardup.cli.configuration import all_options

COMMANDS = {name: tuple(options.values()) for name, options in all_options().items()}
