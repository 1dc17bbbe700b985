// A help-desk assistant. "want" marks the lines that a scan must report.
import OpenAI from "openai";
import { fence, prompt } from "./fence";

const client = new OpenAI();
const PRODUCT = "Harbour Pay";

export async function ask(req: Request, lanes: { name: string; text: string }[]) {
  const { question, locale } = await req.json();
  const page = await (await fetch("https://status.example")).text();

  const system = `You speak for ${PRODUCT}. The customer's language is ${req.headers.get("accept-language")}.`; // want PF001
  const userPrompt = "Answer this: " + question; // want PF001
  let instructions = "Be kind.\n";
  instructions += `State of the provider: ${page}\n`; // want PF001
  instructions += page; // want PF001

  // Text without holes, and holes that carry no text.
  const fixed = prompt(`fixed text`);
  const counted = `You have ${lanes.length} lanes.`;
  call(`fixed text`);

  // A tag that fences its own holes; the template inside one is judged by itself.
  const tagged = prompt`Summarise: ${question}`;
  const nested = prompt`Summarise: ${rules(`You are given ${question}`)}`; // want PF001

  // A lookup by a constant covers one lane.
  let out = "";
  for (const l of lanes) {
    out += fence("page_context") + l.text; // want PF002
    out += fence(l.name) + l.text;
  }
  const maybe = lanes.length > 3 ? fence(lanes[0].name) : ""; // want PF010

  // A URL is not a prompt.
  const url = `https://example.com/${question}`;
  console.log("asked " + question);

  return client.chat.completions.create({
    model: "m",
    messages: [
      { role: "system", content: `Rules. ${page}` }, // want PF001
      { role: "user", content: "Q: " + question }, // want PF001
      { role: "user", content: fence(lanes[0].name) + question },
      { role: "user", content: `${fence(lanes[0].name)}${question}` },
    ],
  });
}

export const greet = (name: string) => `<h1>Hello ${name}</h1>`;

export function buildPrompt(article: { body: string }) {
  return `Article:
${article.body}
End.`; // want-1 PF001
}
