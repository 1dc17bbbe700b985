"""A help-desk assistant. "want" marks the lines that a scan must report."""
import requests
from flask import request

PRODUCT = "Harbour Pay"
TEMPLATE = "Answer {q} in {lang}"


def ask(client, lanes):
    question = request.form["q"]
    page = requests.get("https://status.example").text
    prompt = f"You speak for {PRODUCT}. Answer: {question}"  # want PF001
    prompt += page  # want PF001
    prompt += f"{len(page)} characters"

    # Python 3.12: the same quotes inside, nested three deep, a hole over lines.
    nested_prompt = f"Q: {f"{f"{question}"}"}"  # want PF001
    long_prompt = f"""Q: {
        question  # the customer's
    }"""  # want-1 PF001

    # Templates.
    a_prompt = TEMPLATE.format(q=question, lang="en")  # want PF001
    tmpl = request.form["template"]
    b_prompt = tmpl.format(**{"q": 1})  # want PF001
    c_prompt = "Answer %s in %s" % (question, "en")  # want PF001
    d_prompt = "Answer %d" % len(question)
    e_prompt = "Answer " "this: " f"{question}"  # want PF001

    # Not prompts.
    url = f"https://example.com/{question}"
    print("asked " + question)

    out = ""
    for lane in lanes:
        out += fence("page_context") + lane.text  # want PF002
        out += fence(lane.name) + lane.text
        out += trust_fence("page_context")  # want PF002
    skip = "" if out else fence(lanes[0].name)  # want PF010

    return client.chat.completions.create(
        model="m",
        messages=[
            {"role": "system", "content": "Rules. " + page},  # want PF001
            {"role": "user", "content": f"Q: {question}"},  # want PF001
            {"role": "user", "content": "fixed"},
        ],
    )


def call(text):
    return call("fixed text")


def system_prompt(article):
    return "Article:\n" + article.body  # want PF001
