"""The page that a command writes beside its result, with ``--report``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neardup.files.rows import Source
    from neardup.outputs.targets import Target
    from neardup.runtime.runner import Runner


class PageOutput:
    """The file of a page, if one was asked for; nothing else than that makes it load anything.

    Parameters
    ----------
    page
        A file or URL that ends in .html; None: nothing is written.
    output
        What the command writes besides.
    overwrite
        Whether it may be replaced.
    of_bytes
        Whether the documents that the page reads are bytes, of which it shows none.
    """

    def __init__(
        self,
        page: Target | None,
        output: Target,
        *,
        overwrite: bool,
        of_bytes: bool = False,
    ) -> None:
        self._page, self._overwrite = page, overwrite
        if page is not None:
            from neardup.errors import InvalidParameterError

            if str(page) == str(output):
                message = f"report and output are both {page}; give the page a name of its own"
                raise InvalidParameterError(message, "report", "output")
            if of_bytes:
                message = (
                    "report shows texts, and documents are not read as such with input_format "
                    "bytes; leave it out, and make a page of the result alone afterwards"
                )
                raise InvalidParameterError(message, "report", "input_format")
            from neardup.reports.page import check_page_file

            check_page_file(page, overwrite=overwrite)

    def check_apart(self, inputs: Iterable[str | None]) -> None:
        """Make sure that the page takes no input away."""
        if self._page is not None:
            from neardup.outputs.folder import check_apart

            check_apart(self._page, inputs)

    def write(
        self,
        result: Any,
        options: Any,
        runner: Runner,
        inputs: Sequence[Source] | None = None,
        against: Sequence[Source] | None = None,
    ) -> list[str]:
        """Make the page of a result, and write it.

        Parameters
        ----------
        result
            What the job has returned, or the folder that it has written.
        options
            Those of the job; they say how documents are read. None: they are not.
        runner
            Reads them.
        inputs, against
            The documents that the result names.

        Returns
        -------
        The line that says where it is, if there is one.
        """
        if self._page is None:
            return []
        from neardup.jobs.report.report import make_report
        from neardup.options.jobs import ReportOptions

        names = set(ReportOptions.known) - {"by", "trust"}
        if inputs is None and against is None:
            # Documents are not read.
            names = set()
        elif against is None:
            names -= {"against_text_column", "against_id_column"}
        known = {name: getattr(options, name) for name in names if hasattr(options, name)}
        page = make_report(result, inputs, against, None, ReportOptions(**known), runner)
        page.write(self._page, overwrite=self._overwrite)
        return [f"report in {self._page}"]
