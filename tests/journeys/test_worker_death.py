"""A worker killed by a signal costs one output, with the reason, and the run goes on."""

from __future__ import annotations

from core.examples.verbs import add_example
from core.runs.engine import execute_run
from core.runs.verbs import add_run, add_system
from core.storage import Transaction, Workspace
from core.types import Output, Run, SectionText
from models.hosted import HostedGenerator
from tests.factories import make_task

ANSWER = "# Subjective\n\nThe patient coughs.\n\n# Objective\n\nNothing."


def test_a_killed_worker_costs_one_output(workspace: Workspace) -> None:
    def fill(tx: Transaction) -> Run:
        task = make_task(tx)
        ids = []
        for text in ("first", "let it die here", "third"):
            given = (SectionText(title="Transcript", text=text),)
            ids.append(add_example(tx, task.id, input=given, title=text).id)
        return add_run(tx, add_system(tx, "S", model_id="fake").id, ids)

    run = workspace.transact("Fill", "", fill).value
    # The shipped prompt says nothing of dying or noise, which are the fake's cues.
    model = HostedGenerator({"engine": "fake", "answers": [ANSWER]})
    job = execute_run(workspace, run.id, model)
    model.close()
    assert (job.state, job.done, job.failed) == ("done", 3, 1)
    states = {output.position: (output.state, output.error) for output in workspace.find(Output)}
    assert states[0] == ("done", "")
    assert states[2] == ("done", "")
    assert states[1][0] == "failed"
    assert "SIGKILL" in states[1][1]
    assert "last words" in states[1][1]
