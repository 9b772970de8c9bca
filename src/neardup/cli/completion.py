"""What the shell offers for a value, where click does not know it by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.options.kinds import Tokenizer

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem


def complete_paths(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Leave it to the shell, which completes paths."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def complete_tokenizers(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the names of tokenizers, and paths."""
    from click.shell_completion import CompletionItem

    # Paths come first: bash forgets for them what it was offered before.
    return [
        *complete_paths(ctx, param, incomplete),
        *(CompletionItem(name) for name in Tokenizer.names if name.startswith(incomplete)),
    ]
