"""Running commands: bounded, timed, and gone afterwards."""
