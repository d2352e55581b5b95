"""The schemas that editors use, against a validator that is not Lockstep's: every shipped file is accepted and names its
schema, mistakes that `lockstep validate` finds in one place of a file are refused, and the files in the tree are what
`lockstep schema` prints.

    schema_live.py --lockstep build/bin/lockstep [--update]      --update writes the schemas anew
"""

import argparse
import copy
import pathlib
import subprocess
import sys
import tomllib

import json
import jsonschema

root = pathlib.Path(__file__).resolve().parents[2]
files = {
    "pipeline": (root / "pipelines/pipeline.schema.json", [], sorted(root.glob("pipelines/*.toml"))),
    "overlay": (root / "configs/overlay.schema.json", ["--overlay"], sorted(root.glob("configs/*.toml"))),
}


def step(document, name):
    return next(each for each in document["step"] if each["id"] == name)


# What is done to pipelines/gemma4.toml, and how.
mistakes = {
    "an unknown key": lambda d: d.update(sheme=1),
    "another schema": lambda d: d.update(schema=2),
    "no step": lambda d: d.update(step=[]),
    "an unknown key of a step": lambda d: step(d, "prefill").update(use="gemma4.prefill"),
    "a step without an id": lambda d: step(d, "prefill").pop("id"),
    "an id with a space": lambda d: step(d, "generation").update(id="my step"),
    "an unknown parameter": lambda d: step(d, "runtime")["with"].update(maxseq=160),
    "text for an integer": lambda d: step(d, "runtime")["with"].update(max_seq="many"),
    "an integer out of range": lambda d: step(d, "runtime")["with"].update(max_seq=0),
    "an unknown choice": lambda d: step(d, "reference")["with"].update(dtype="float8"),
    "an unknown input": lambda d: step(d, "prefill").update(inputs={"bach": "build_static_inputs.batch"}),
    "an unknown check": lambda d: step(d, "prefill").update(checks={"logit": {"k": 0.1}}),
    "a bound of another metric": lambda d: step(d, "prefill").update(checks={"logits": {"rtol": 0.1}}),
    "an unknown level": lambda d: step(d, "prefill").update(checks={"logits": {"level": "warn"}}),
    "an axis without values": lambda d: d.update(matrix={"dtype": []}),
    "an entry of exclude that is no table": lambda d: d.update(matrix={"dtype": ["a"], "exclude": ["a"]}),
    "an unknown isolation": lambda d: step(d, "prefill").update(isolation="container"),
    "a time limit of nothing": lambda d: step(d, "prefill").update(isolation="process", time_limit=0),
    "an unknown environment": lambda d: d.setdefault("environment", {}).update(thread=2),
    "a negative seed": lambda d: d.setdefault("environment", {}).update(seed=-1),
}

# What is no mistake.
variations = {
    "a variable for an integer": lambda d: step(d, "runtime")["with"].update(max_seq="${max_seq}"),
    "a step of somebody's own": lambda d: d["step"].append({"id": "mine", "uses": "my.step", "with": {"x": [1]}}),
    "a matrix": lambda d: d.update(matrix={"dtype": ["a", "b"], "n": 1, "exclude": [{"dtype": "a"}]}),
    "a bound": lambda d: step(d, "prefill").update(checks={"logits": {"k": 0.1, "level": "inform"}}),
    "threads by a step": lambda d: d.setdefault("environment", {}).update(threads="auto"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lockstep", required=True)
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    problems = []
    validators = {}
    for kind, (place, options, shipped) in files.items():
        printed = subprocess.run([arguments.lockstep, "schema", *options], check=True, capture_output=True, text=True).stdout
        if arguments.update:
            place.write_text(printed)
        if place.read_text() != printed:
            problems.append(f"{place.relative_to(root)} is stale: tests/live/schema_live.py --update writes it anew")
        schema = json.loads(printed)
        jsonschema.Draft7Validator.check_schema(schema)
        validators[kind] = jsonschema.Draft7Validator(schema)
        for file in shipped:
            text = file.read_text()
            if text.splitlines()[0] != f"#:schema {place.name}":
                problems.append(f"{file.relative_to(root)} does not begin with '#:schema {place.name}'")
            for error in validators[kind].iter_errors(tomllib.loads(text)):
                problems.append(f"{file.relative_to(root)}: {error.json_path}: {error.message}")

    original = tomllib.loads((root / "pipelines/gemma4.toml").read_text())
    for what, change in mistakes.items():
        document = copy.deepcopy(original)
        change(document)
        if validators["pipeline"].is_valid(document):
            problems.append(f"{what} is accepted")
    for what, change in variations.items():
        document = copy.deepcopy(original)
        change(document)
        for error in validators["pipeline"].iter_errors(document):
            problems.append(f"{what} is refused: {error.json_path}: {error.message}")
    overlay = {"step": {"runtime": {"uses": "gemma4.static_runtime", "with": {"maxseq": 1}}}}
    if validators["overlay"].is_valid(overlay):
        problems.append("an unknown parameter in an overlay is accepted")

    print("\n".join(problems) or f"{len(mistakes) + 1} mistakes refused, {len(variations)} variations accepted")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
