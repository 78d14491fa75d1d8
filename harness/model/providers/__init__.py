"""Providers that speak another language than OpenAI's: one package each, imported when needed."""
