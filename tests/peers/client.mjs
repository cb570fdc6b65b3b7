// A client of the TypeScript SDK that does what it is told.
//
// Standard input holds a plan: the server, as a command or a URL, and the steps. Standard output gets
// one JSON array with what came of each step. `TOOL_PEERS` names the folder of the installed peers.

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

// The scripts do not lie beside the packages, so these are looked up where they were installed.
const require = createRequire(join(process.env.TOOL_PEERS, 'node', 'package.json'));
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
const {
  StreamableHTTPClientTransport,
} = require('@modelcontextprotocol/sdk/client/streamableHttp.js');

const plan = JSON.parse(readFileSync(0, 'utf8'));
const client = new Client({ name: 'peer', version: '1.0.0' });
const transport = plan.server.url
  ? new StreamableHTTPClientTransport(new URL(plan.server.url))
  : new StdioClientTransport(plan.server);

async function exists(path) {
  while (!existsSync(path)) await pause(10);
}

function call({ name, arguments: args }, options = {}) {
  return client.callTool({ name, arguments: args }, undefined, options);
}

const doings = {
  async list() {
    const { tools } = await client.listTools();
    return tools;
  },
  async call(step) {
    const progress = [];
    const options = step.progress ? { onprogress: (report) => progress.push(report) } : {};
    try {
      return { result: await call(step, options), progress };
    } catch (error) {
      return { error: { code: error.code, message: error.message } };
    }
  },
  // Cancels the call once the file exists.
  async cancel(step) {
    const abort = new AbortController();
    const calling = call(step, { signal: abort.signal }).then(
      () => ({ cancelled: false }),
      () => ({ cancelled: true }),
    );
    await exists(step.when);
    abort.abort('not wanted any more');
    return calling;
  },
  // Says goodbye in the middle of the call, once the file exists.
  async close(step) {
    const calling = call(step).then(
      () => ({ closed: false }),
      () => ({ closed: true }),
    );
    await exists(step.when);
    if (transport.terminateSession) await transport.terminateSession();
    await client.close();
    return calling;
  },
  // Is gone without a goodbye in the middle of the call, once the file exists.
  async vanish(step) {
    call(step).catch(() => {});
    await exists(step.when);
    process.kill(process.pid, 'SIGKILL');
    await pause(60_000);
  },
};

await client.connect(transport);
const results = [];
for (const { do: doing, ...step } of plan.steps) results.push(await doings[doing](step));
await client.close();
process.stdout.write(JSON.stringify(results), () => process.exit(0));
