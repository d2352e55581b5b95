"""The workflow of docs/ci, run here: the scripts of its steps, in the order of its jobs, as a runner would run them.

    workflow_live.py --lockstep build/bin/lockstep --plugins DIR [DIR…]

Actions of others (checkout, cache, artifacts) move files only; here all jobs share one folder.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

root = pathlib.Path(__file__).resolve().parents[2]
pipeline = """
schema = 1
name = "two rows"

[matrix]
value = [2.5, 2.625]

[[step]]
id = "reference"
uses = "toy.source"
with = { values = [1.0, 2.5] }

[[step]]
id = "runtime"
uses = "toy.source"
with = { values = [1.0, "${matrix.value}"] }

[[step]]
id = "compare"
uses = "toy.compare"
inputs = { expected = "reference.numbers", actual = "runtime.numbers" }
"""


class Runner:
    def __init__(self, folder, environment):
        self.folder = folder
        self.environment = environment
        self.outputs = {}

    def run(self, step, more):
        output = self.folder / "github_output"
        output.write_text("")
        environment = {**os.environ, **self.environment, **more, "GITHUB_OUTPUT": str(output)}
        result = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], cwd=self.folder,
                                env=environment, capture_output=True, text=True)
        for line in output.read_text().splitlines():
            name, _, value = line.partition("=")
            self.outputs[name] = value
        return result


def run_workflow(workflow, lockstep, plugins, text):
    """Exit codes of the verify job's shards, of the report job; the summary's text; what the shards printed."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "pipelines").mkdir()
        (folder / "pipelines/verify.toml").write_text(text)
        bin_folder = folder / ".lockstep/build/bin"
        bin_folder.mkdir(parents=True)
        program = bin_folder / "lockstep"
        program.write_text(f'#!/bin/sh\nexec "{pathlib.Path(lockstep).resolve()}" "$@"\n')
        program.chmod(0o755)
        summary = folder / "step_summary"
        summary.write_text("")
        environment = {key: str(value) for key, value in workflow["env"].items()}
        environment |= {"LOCKSTEP_PLUGIN_PATH": ":".join(str(pathlib.Path(each).resolve()) for each in plugins), "GITHUB_STEP_SUMMARY": str(summary),
                        "GITHUB_WORKSPACE": str(folder)}
        runner = Runner(folder, environment)
        jobs = workflow["jobs"]
        plan = next(step for step in jobs["build"]["steps"] if step.get("id") == "plan")
        result = runner.run(plan, {})
        assert result.returncode == 0, result.stderr
        shards = json.loads(runner.outputs["shards"])
        (verify,) = [step for step in jobs["verify"]["steps"] if "run" in step]
        printed = [runner.run(verify, {"SHARD": str(shard)}) for shard in shards]
        (report,) = [step for step in jobs["report"]["steps"] if "run" in step]
        merged = runner.run(report, {})
        made = sorted(path.name for path in folder.glob("summary.*"))
        text = summary.read_text()
        # A machine that was lost: its record is not there.
        (folder / "records/shard1.json").unlink()
        lost = runner.run(report, {})
        return [each.returncode for each in printed], merged.returncode, text, printed, made, lost


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lockstep", required=True)
    parser.add_argument("--plugins", nargs="+", required=True)
    arguments = parser.parse_args()
    workflow = yaml.safe_load((root / "docs/ci/lockstep.yml").read_text())
    run = lambda text: run_workflow(workflow, arguments.lockstep, arguments.plugins, text)

    codes, code, summary, printed, made, lost = run(pipeline)
    assert codes == [0, 1, 0, 0], codes  # the second row fails; two shards have no row
    assert code == 1
    assert made == ["summary.html", "summary.json", "summary.md"], made
    assert re.search("value=2.625", summary), summary
    assert "::error file=" in printed[1].stdout, printed[1].stdout
    assert lost.returncode == 2 and "F005" in lost.stderr, lost.stderr

    codes, code, *_ = run(pipeline.replace("[2.5, 2.625]", "[2.5]"))
    assert (codes, code) == ([0, 0, 0, 0], 0), (codes, code)
    print("the workflow is green and red where it should be")


if __name__ == "__main__":
    sys.exit(main())
