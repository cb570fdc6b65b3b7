// Makes strict definitions of saved lists of tools with OpenAI's own helper.
// Arguments: its module, and the folder of the lists. For each line on standard input it goes over
// all of them once and answers with the time that it took and with how many it could make.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [module, folder] = process.argv.slice(2);
const { toStrictJsonSchema } = await import(pathToFileURL(module));

const tools = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .sort()
  .flatMap((name) => JSON.parse(readFileSync(join(folder, name), "utf8")).tools);

function once() {
  let taken = 0;
  let bytes = 0;
  for (const tool of tools) {
    try {
      const parameters = toStrictJsonSchema(tool.inputSchema);
      const { name, description } = tool;
      bytes += JSON.stringify({ type: "function", name, parameters, strict: true, description }).length;
      taken += 1;
    } catch {
      // It has no word for this one.
    }
  }
  return { taken, bytes };
}

for await (const _ of createInterface({ input: process.stdin })) {
  const start = process.hrtime.bigint();
  const { taken, bytes } = once();
  const nanos = Number(process.hrtime.bigint() - start);
  console.log(JSON.stringify({ nanos, taken, bytes }));
}
