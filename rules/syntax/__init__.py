"""From text to statements: lexer, cursor, conditions, parser, and files that include files."""
