"""The options of every command, by the words of its name."""

from importlib import import_module

from neardup.cli import COMMANDS as MODULES

COMMANDS = {}
for name, (module, _) in MODULES.items():
    command = getattr(import_module(module), name)
    members = getattr(command, "commands", None)
    named = {f"{name} {each}": members[each] for each in members} if members else {name: command}
    COMMANDS |= {words: tuple(each.entries.values()) for words, each in named.items()}
