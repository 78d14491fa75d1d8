"""What `--help` and `rules --help` print. It is laid out by hand, so that showing it needs no
import at all; a test holds it against the parser."""

HELP = """\
usage: mini-coding-agent [options] [prompt ... | - | demo | doctor | models |
                         serve-model FILE.gguf | rules ...]

A terminal coding agent whose "done" is decided by the harness, not by the
model. With a prompt it does one request; with - it reads the request from
standard input; without either it starts a conversation.

sub-commands:
  demo                   a scripted model behind a real server: one task,
                         with and without OODA
  doctor                 what this machine has, what is missing, how to get it
  models                 the servers and models found on this machine
  serve-model FILE.gguf  serve a model file on this machine (extra `local`)
  rules check|run|why|query
                         try out rule files without a model (rules --help)

options:
  -h, --help             show this help
  --version              show the version
  --cwd DIR              the workspace (default: here)
  --model NAME           the model (default: the best one the server has)
  --host URL             the server, with or without /v1 (default: look for one)
  --backend KIND         auto, openai, ollama, local (--model FILE.gguf),
                         anthropic, bedrock or scripted (default: auto)
  --script FILE          the replies of --backend scripted
  --resume ID            go on with a session; 'latest' for the last one here
  --approval MODE        ask, auto or never: edits and commands (default: ask)
  --max-steps N          model replies a turn (default: 50; 0: no limit)
  --max-attempts N       verifications a turn (default: 3)
  --max-seconds S        wall clock a turn (default: 1800; 0: no limit)
  --max-tokens N         tokens a turn, in and out (default: no limit)
  --max-cost USD         dollars a session (default: no limit)
  --max-new-tokens N     tokens a reply (default: the server's)
  --context-length N     tokens of context (default: what the server tells)
  --protocol KIND        native, constrained, text or auto (default: auto)
  --temperature T        sampling temperature (default: the server's)
  --top-p P              nucleus sampling (default: the server's)
  --no-ooda              the model and its tools alone: no context, no checks
  --trace                facts, rules and verdicts on standard error
  --json                 the journal's events on standard output

API keys come from the environment only: MCA_API_KEY, or OPENAI_API_KEY for a
server named with --host or OPENAI_BASE_URL and for --backend openai. Settings
can also be kept in ~/.mini-coding-agent/config.toml.

exit codes:
  0 answered or verified    1 failed           2 usage or configuration
  3 limit reached           4 model or server  5 changed but unverified
  6 needs review            7 denied           130 interrupted
"""

RULES_HELP = """\
usage: mini-coding-agent rules check FILE...
       mini-coding-agent rules run FILE... [--predicate NAME]
       mini-coding-agent rules why FACT FILE...
       mini-coding-agent rules query FILE... [--query '?- ATOM, ...']

Try out rule files without a model. FILE is a file of rules, and of facts to
try them on; - is standard input. The shipped rules are in force beside them,
and the files have the rights of a workspace's own: see docs/rules.md.

  check                  every error and warning, with its place
  run                    what the rules conclude, sorted
  why FACT               its proof; or, if it does not hold, what is missing
  query                  the answers to each query, those in the files too

options:
  -h, --help             show this help
  --alone                without the shipped rules
  --json                 for programs
  --predicate NAME       run: only facts of this predicate (may be repeated)
  --fact FACT            why: the fact, when all else are files
  --query QUERY          query: a question (may be repeated)
  --max-derived N        facts that rules conclude (default: 200000)
  --max-rounds N         rounds of one recursion (default: 10000)
  --max-work N           rows looked at (default: 2000000)

exit codes:
  0 done, no errors      1 why: the fact does not hold
  2 usage, or rules that cannot be used      3 the rules conclude without end
"""
