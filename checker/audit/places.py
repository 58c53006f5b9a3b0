"""Where an audit runs: in this process, or on a Spark cluster."""

from __future__ import annotations

from collections.abc import Sequence

from antecede.checker.audit import audit as audits
from antecede.checker.audit import report
from antecede.checker.audit.findings import Audit
from antecede.checker.audit.records import Fields
from antecede.checker.audit.shiviz import Expressions
from antecede.checker.render.ticker import Ticker
from antecede.checker.support.errors import InputError


def audit_at(
    place: str,
    names: Sequence[str],
    format: str | None,
    fields: Fields,
    *,
    given: Expressions,
    how: audits.How,
    ticker: Ticker,
    master: str | None,
    spark_log: bool,
) -> Audit:
    """Judge logs `here` or on `spark`; see `checker.audit.audit.audit`.

    `master` and `spark_log` are for Spark. Only an audit in this process shows its progress.

    Raises:
        InputError: as in `audit`, or an option is not for this place.
    """
    if place == "here":
        if master is not None or spark_log:
            raise InputError("--master and --spark-log are for --on spark")
        return audits.audit(
            names, format, fields, given=given, how=how, tick=report.watching(ticker)
        )
    # Only this needs compiled kernels at once.
    from antecede.checker.audit import on_spark

    return on_spark.audit(names, format, fields, given=given, how=how, master=master, log=spark_log)
