"""Tool calls written as text: one small reader per family, in one table.

A model's format that is not here yet is a reader and a row of this table; docs/replies.md shows
how to write one.
"""

from harness.model.families import bare, envelopes, gemma, harmony, stray, tagged, tokens
from harness.model.families.form import Family
from harness.model.thoughts import MID_THOUGHTS

# what must follow a tag that stands within a line, for it not to be just spoken of
_CALL = r"\s*(?:[\[{]|<function|<invoke|[\w.\-]{1,64}\s*(?:<arg_key>|</tool_call>))"
_ARGS = r"\s*[\[{]|\s*[\w.\-:/]{1,64}(?:\[|\s*\{)"
_ARGUMENTS = r"[\w.\-\"' =]{1,64}>\s*(?:<param|</function>|</invoke>|\{)"

FAMILIES: tuple[Family, ...] = (
    Family(
        "qwen3-coder",
        ("<tool_call>", "<seed:tool_call>", "<tool_calls>"),
        tagged.read_qwen,
        inline=_CALL,
    ),
    Family("qwen3-coder", ("<function=", "<function name="), tagged.read_qwen, inline=_ARGUMENTS),
    Family(
        "invoke",
        ("<invoke name=", "<function_calls>", "<minimax:tool_call>", "<tool_calls>", "<tool_call>"),
        tagged.read_invoke,
        inline=_CALL,
    ),
    Family("invoke", ("<invoke name=",), tagged.read_invoke, inline=_ARGUMENTS),
    Family("dsml", ("<｜DSML｜", "<|DSML|"), tagged.read_invoke, inline=""),
    Family("glm", ("<tool_call>",), tagged.read_glm, inline=_CALL),
    Family("hermes", envelopes.TAGS, envelopes.read_envelope, inline=_CALL),
    Family("tokens around json", envelopes.TOKENS, envelopes.read_envelope, inline=""),
    Family("functools", envelopes.WORDS, envelopes.read_envelope),
    Family("mistral", ("[TOOL_CALLS]",), tokens.read_mistral, inline=_ARGS),
    Family(
        "harmony without its first token",
        ("analysis", "commentary", "final"),
        harmony.read_harmony,
        begins=harmony.begins_first,
    ),
    Family(
        "harmony without its tokens",
        ("analysis", "commentary", "assistantcommentary"),
        harmony.read_plain,
        begins=harmony.begins_plain,
    ),
    Family("harmony", ("<|channel|>", "<|start|>"), harmony.read_harmony, inline=""),
    Family(
        "deepseek",
        (
            *("<｜tool▁call", "<｜tool_call", "<｜tool call", "<|tool▁call"),
            *("<|tool_calls_begin|>", "<|tool_call_begin|>"),
        ),
        tokens.read_deepseek,
        inline="",
    ),
    Family(
        "kimi", ("<|tool_calls_section_begin|>", "<|tool_call_begin|>"), tokens.read_kimi, inline=""
    ),
    Family("llama", ("<|python_tag|>",), tokens.read_llama, inline=""),
    Family("gemma", ("<|tool_call>", "<start_function_call>"), gemma.read_gemma, inline=""),
    Family("thought", MID_THOUGHTS, stray.read_thought, inline=""),
    Family("message end", stray.MESSAGE_ENDS, stray.read_message_end, inline=""),
    Family("stray closer", stray.CLOSING_TOKENS, stray.read_closer, inline=""),
    Family("stray closer", stray.CLOSING_TAGS, stray.read_closer, inline=""),
    Family("spoken of", stray.SPOKEN, stray.read_spoken, inline=""),
    Family("fence", ("```", "~~~"), bare.read_fence, begins=bare.begins_fence),
    Family("json", ("{", "["), bare.read_objects, begins=bare.begins_object),
    Family("pythonic", ("[",), bare.read_python, begins=bare.begins_python),
)
"""All formats that are read. Where several share an opener, the first that knows what follows
takes it; where none does, the model is told that its call could not be read."""
