// Runs the official conformance suites of the model context protocol, for the revisions before and since 2026-07-28,
// against the real /mcp of a workspace: `node .ci/conformance.js [--url URL --token TOKEN]` after a build. Prints a line
// for each scenario and exits 1 if one fails, or if a suite and its table of scenarios differ.
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { SUITES } from './conformance-table.js';

const LONGEST_MS = 60_000;

function runSuite(program, ...words) {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...words], { timeout: LONGEST_MS }, (error, stdout, stderr) =>
      resolve({ isOk: error === null, said: `${stdout}${stderr}` }),
    );
  });
}

/** A separate workspace with its daemon: the URL of its /mcp, and its token. */
async function startWorkspace() {
  const { makeWorkspace } = await import('../dist/test/support/workspaces/workspace.js');
  const ws = await makeWorkspace();
  try {
    const up = await ws.svc(['up']);
    if (up.code !== 0) throw new Error(`svc up: ${up.stderr}`);
    const { http, token } = JSON.parse(readFileSync(join(ws.root, '.svc', 'daemon.json'), 'utf8'));
    return { url: `http://${http.host}:${http.port}/mcp`, token, close: () => ws.close() };
  } catch (error) {
    await ws.close();
    throw error;
  }
}

/**
 * Adds the token, which the suite cannot send. All other headers pass unchanged, including Host and Origin, because
 * the server must check them.
 */
async function startForwarder({ url, token }) {
  const { hostname, port, pathname } = new URL(url);
  const server = createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    const onward = send({ hostname, port, path: request.url, method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      // The headers of a stream matter before its first event.
      response.flushHeaders();
      answer.pipe(response);
    });
    onward.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}${pathname}`, close };
}

/** Returns the server's capabilities. */
async function offersOf(url) {
  const client = new Client(
    { name: 'svc-conformance', version: '0' },
    { versionNegotiation: { mode: 'auto' } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const capabilities = client.getServerCapabilities() ?? {};
  const has = (name) => capabilities[name] !== undefined;
  const tools = has('tools') ? (await client.listTools()).tools : [];
  const prompts = has('prompts') ? (await client.listPrompts()).prompts : [];
  const resources = has('resources') ? (await client.listResources()).resources : [];
  const templates = has('resources') ? (await client.listResourceTemplates()).resourceTemplates : [];
  await client.close();
  return {
    capability: Object.keys(capabilities),
    tools: tools.map(({ name }) => name),
    prompts: prompts.map(({ name }) => name),
    resources: [...resources.map(({ uri }) => uri), ...templates.map(({ uriTemplate }) => uriTemplate)],
  };
}

const applies = ({ why: _, except: __, ...needs }, offers) =>
  Object.entries(needs).every(([kind, name]) => offers[kind].includes(name));

/** The suite reports success for a scenario without checks; here that is a failure. */
async function runScenario({ program, revision, name, except = {} }, url) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-conformance-'));
  try {
    const words = ['--url', url, '--scenario', name, '--output-dir', folder];
    // The older suite is for one revision.
    if (revision !== '2025-11-25') words.push('--spec-version', revision, '--force');
    const { said } = await runSuite(program, 'server', ...words);
    const checks = readdirSync(folder).flatMap((each) =>
      JSON.parse(readFileSync(join(folder, each, 'checks.json'), 'utf8')),
    );
    const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
    const odd = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
    const excepted = odd.filter(({ id }) => id in except);
    const bad = odd.filter(({ id }) => !(id in except));
    const notes = [
      ...excepted.map(({ id }) => `skipped ${id}: ${except[id]}`),
      ...bad.map(({ status, id, errorMessage, details }) =>
        `${status.toLowerCase()} ${id}: ${errorMessage ?? details?.message ?? ''}`.trim(),
      ),
    ];
    for (const id of Object.keys(except))
      if (!odd.some((each) => each.id === id)) bad.push(notes.push(`${id} passes: remove it from the table`));
    if (checks.length === 0) notes.push(`the suite ended without a result: ${said.trim().slice(-400)}`);
    return { hasPassed: bad.length === 0 && passed > 0, checks: passed, notes };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main() {
  const { values } = parseArgs({ options: { url: { type: 'string' }, token: { type: 'string' } } });
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const tell = (state, name, text) => {
    counts[state] += 1;
    console.log(`${state.padEnd(7)} ${name}${text === '' ? '' : `  ${text}`}`);
  };

  const server = values.url
    ? { url: values.url, token: values.token ?? '', close() {} }
    : await startWorkspace();
  const forwarder = await startForwarder(server);
  try {
    // The forwarder's token must be required; otherwise this would prove nothing about the real address.
    const { status } = await fetch(server.url, { method: 'POST', body: '{}' });
    tell(status === 401 ? 'passed' : 'failed', 'token', `without it the answer is ${status}`);
    const offers = await offersOf(forwarder.url);
    for (const [revision, { program: address, scenarios }] of Object.entries(SUITES)) {
      const program = fileURLToPath(address);
      const listed = await runSuite(program, 'list', '--server');
      // Each with the revisions that it applies to, in the newer suite.
      const known = [...listed.said.matchAll(/^ {2}- (\S+)(?: \[(.*)\])?$/gm)]
        .filter(([, , revisions = revision]) => /extension/.test(revisions) || revisions.includes(revision))
        .map(([, name]) => name);
      if (!listed.isOk || known.length === 0) throw new Error(`the suite lists no scenarios: ${listed.said}`);
      console.log(`revision ${revision}`);
      for (const name of Object.keys(scenarios))
        if (!known.includes(name)) tell('failed', name, 'is in the table, but not in the suite');
      for (const name of known) {
        const entry = scenarios[name];
        if (entry === undefined) tell('failed', name, 'is not in the table of scenarios');
        else if (!applies(entry, offers)) tell('skipped', name, entry.why);
        else {
          const scenario = { program, revision, name, except: entry.except };
          const { hasPassed, checks, notes } = await runScenario(scenario, forwarder.url);
          tell(hasPassed ? 'passed' : 'failed', name, `${checks} ${checks === 1 ? 'check' : 'checks'}`);
          for (const note of notes) console.log(`        ${note}`);
        }
      }
    }
  } finally {
    forwarder.close();
    await server.close();
  }
  console.log(`conformance: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  process.exitCode = counts.failed > 0 ? 1 : 0;
}

try {
  await main();
} catch (error) {
  console.error(`conformance: ${error.message}`);
  process.exitCode = 1;
}
