"""Results as JUnit XML, for CI servers: one test case per property of each check."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from antecede.checker.check.report import Checked, CheckReport, Refused, decides
from antecede.checker.render.markup import plain_lines
from antecede.checker.render.text import path_text
from antecede.checker.search.result import Verdict


def text(reports: Sequence[Checked]) -> str:
    """Return the results as JUnit XML.

    A violated property is a failure, unless the violation is expected. An undecided property is a
    skipped test. The test case `expectation` is an error if the check decided nothing, so that this
    cannot look like a success. It is a failure if the result differs from the spec's expectation in
    another way than by a violated property. A spec that could not be checked is an error.
    """
    root = ElementTree.Element("testsuites", name="antecede")
    for report in reports:
        if isinstance(report, Refused):
            _refused(root, report)
        else:
            _suite(root, report)
    return text_of(root)


def text_of(root: ElementTree.Element) -> str:
    """Return XML as the text of a file."""
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def add_totals(suite: ElementTree.Element, seconds: float) -> None:
    """Set the attributes of a suite that follow from its test cases."""
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", str(len(suite.findall("testcase/error"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    suite.set("time", f"{seconds:.3f}")


def _refused(root: ElementTree.Element, refused: Refused) -> None:
    """Add a suite whose only test case is the spec itself."""
    suite = ElementTree.SubElement(root, "testsuite", name=refused.label)
    case = ElementTree.SubElement(suite, "testcase", classname=refused.label, name="spec")
    said = {"type": refused.error.code, "message": plain_lines(refused.text)}
    ElementTree.SubElement(case, "error", said)
    add_totals(suite, 0.0)


def _suite(root: ElementTree.Element, report: CheckReport) -> None:
    result = report.result
    suite = ElementTree.SubElement(root, "testsuite", name=report.spec.label)
    for name in result.properties:
        _case(suite, report, name)
    _expectation(suite, report)
    add_totals(suite, result.seconds)


def _case(suite: ElementTree.Element, report: CheckReport, name: str) -> None:
    result = report.result
    case = ElementTree.SubElement(suite, "testcase", classname=report.spec.label, name=name)
    verdict, path = result.properties[name], result.counterexample
    wanted = report.spec.expect
    expected = wanted.verdict is Verdict.VIOLATED and report.as_expected
    if verdict is Verdict.VIOLATED and not expected:
        shown = path is not None and path.violates == name
        failure = ElementTree.SubElement(case, "failure", message=f"{name} is violated")
        failure.text = plain_lines(path_text(path)) if shown and path is not None else ""
    elif verdict is Verdict.VACUOUS and not report.as_expected:
        message = plain_lines(f"nothing to judge: {result.vacuous[name]}")
        ElementTree.SubElement(case, "skipped", message=message)
    elif verdict is Verdict.INCOMPLETE:
        reason = "the check failed" if result.error else result.stopped_by
        reason = reason or "the search ended with another violation"
        ElementTree.SubElement(case, "skipped", message=plain_lines(f"not decided: {reason}"))


def _expectation(suite: ElementTree.Element, report: CheckReport) -> None:
    """Add the test case that compares the check with what its spec expects."""
    case = ElementTree.SubElement(
        suite, "testcase", classname=report.spec.label, name="expectation"
    )
    result = report.result
    if not decides(report.spec, result):
        empty = "; ".join(dict.fromkeys(result.vacuous.values()))
        reason = result.error or result.stopped_by or empty or str(result.verdict)
        ElementTree.SubElement(case, "error", message=plain_lines(f"{result.verdict}: {reason}"))
    elif report.differences:
        told = suite.find("testcase/failure") is not None
        message = plain_lines("; ".join(report.differences))
        ElementTree.SubElement(case, "skipped" if told else "failure", message=message)
