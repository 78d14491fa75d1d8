"""Every text that a model reads because of a protocol, in one place.

Written for models of one or two billion parameters: short, one form for everything, an example of
each kind. What is said here stands at the end of the system message, the same all session long.
"""

CONSTRAINED = """
# How to reply
Each reply is one JSON object and nothing else: your next step. You are then told its result, and \
reply with the step after it. To read a file before you change it is a step; so is the answer.

Steps:
{steps}

Examples:
{{"tool": "read_file", "path": "config.py"}}
{{"tool": "patch_file", "path": "config.py", "old_text": "    timeout = 10", \
"new_text": "    timeout = 30"}}
{{"tool": "answer", "text": "The timeout is 30 seconds now."}}
"""
"""The end of the system message under `constrained`; `steps` has one line for each step."""

TEXT = """
# How to call a tool
Write one call at the end of your reply, in exactly this form, and wait for its result:
<tool_call>
{{"name": "read_file", "arguments": {{"path": "config.py"}}}}
</tool_call>

Tools:
{tools}

When the request is done, answer in words, without <tool_call>.
"""
"""The same under `text`; `tools` has one line for each tool."""

STEP = '{{"tool": "{name}"{arguments}}} - {description}'
CALL = '{{"name": "{name}", "arguments": {{{arguments}}}}} - {description}'
ARGUMENT = '"{name}": <{about}>'
OPTIONAL = " Optional: {arguments}."
ANSWER_STEP = (
    '{"tool": "answer", "text": <one or two sentences>} - The request is done, or it was a '
    "question: what you did or found out."
)

RESULT = "Result of {name}:\n{text}"
"""A result under `constrained`, as a user message."""

RESPONSE = "<tool_response>\n{text}\n</tool_response>"
"""A result under `text`: what the models that write `<tool_call>` were trained on."""

NOT_A_STEP = (
    "Your reply was not one step. Reply with one JSON object, such as "
    '{"tool": "read_file", "path": "config.py"}.'
)
EMPTY_ANSWER = "Your answer was empty. Say in its text what you did or found out."
