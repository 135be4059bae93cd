"""A command."""

import click


@click.command("greet")
@click.argument("name")
def command(name):
    """Greet NAME."""
    click.echo(f"hello {name}")
    return 7
