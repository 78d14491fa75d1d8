"""The gate that says what the rules found about the tests themselves.

The rules derive the findings; here they become a verdict: an error blocks, all else asks a
person to look.
"""

from harness.gates.feedback import bounded
from harness.gates.values import Finding, GateContext, Verdict

NAME = "integrity"


def integrity(targets: tuple[str, ...], context: GateContext) -> Verdict:
    """Judge `context.findings`; `targets` narrows them to those paths when it names any."""
    findings = tuple(
        finding
        for finding in context.findings
        if not targets or finding.where.partition("::")[0] in targets
    )
    if not findings:
        return Verdict(NAME, "passed", "", "the tests are as they were")
    hard = [finding for finding in findings if finding.severity == "error"]
    first = (hard or list(findings))[0]
    return Verdict(
        NAME,
        "failed" if hard else "needs_review",
        _sentence(first),
        "; ".join(_sentence(finding) for finding in findings),
        findings,
        bounded("\n".join(f"{finding.severity}: {_sentence(finding)}" for finding in findings)),
    )


def _sentence(finding: Finding) -> str:
    place = f"{finding.where}, line {finding.line}" if finding.line else finding.where
    return f"{place}: {finding.message}"
