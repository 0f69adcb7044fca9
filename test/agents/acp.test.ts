import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Caller } from '../../engine/core/api/operation.ts';
import {
  type Ask,
  type Engine,
  type EngineHost,
  hostEngine,
  openEngine,
  type WireValue,
} from '../../engine/index.ts';
import { createAcpReader } from '../../engine/workers/agents/streams/acp.ts';
import { type Script, startModel } from '../../fixtures/model/model.ts';
import { AGENTS_BIN, missing, opencodeEnvironment } from '../support/agents/agents.ts';
import { settled, until } from '../support/wait.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../support/workspaces/workspace.ts';

const CHAIR: Caller = { seat: 'chair', actor: 'ada', via: 'tui', sessionId: null, project: null, env: {} };
const KEY = 'no key at all';

interface RealAgent {
  words: string[];
  env(modelUrl: string): Record<string, string>;
  /** Calls to its own tools: one that writes a file, one that runs a command. */
  write(path: string): { call: string; arguments: Record<string, unknown> };
  run(command: string): { call: string; arguments: Record<string, unknown> };
}

const AGENTS: Record<string, RealAgent> = {
  'claude-agent-acp': {
    words: [],
    env: (modelUrl) => ({
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_AUTH_TOKEN: KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '0',
      DISABLE_AUTOUPDATER: '1',
      // Otherwise it refuses to start as root.
      IS_SANDBOX: '1',
    }),
    write: (path) => ({ call: 'Write', arguments: { file_path: path, content: 'hello' } }),
    run: (command) => ({ call: 'Bash', arguments: { command, description: 'runs it' } }),
  },
  opencode: {
    words: ['acp'],
    env: (modelUrl) => opencodeEnvironment({ modelUrl, key: KEY }),
    write: (path) => ({ call: 'write', arguments: { filePath: path, content: 'hello' } }),
    run: (command) => ({ call: 'bash', arguments: { command, description: 'runs it' } }),
  },
};

/** Real agent programs as servers of the protocol, with a fake model. */
describe('a real agent program on transport acp', () => {
  let ws: TestWorkspace;
  let engine: Engine;
  let host: EngineHost;
  before(async () => {
    ws = await makeWorkspace();
    engine = await openEngine({ file: join(ws.root, 'svc.yaml'), env: ws.env, workerCap: 0 });
    host = await hostEngine(engine);
  });
  after(async () => {
    await host?.close();
    await ws.close();
  });

  const openAsk = (playing: Playing, after = 0) =>
    until(async () => {
      assert.equal(playing.child.exitCode, null, playing.told());
      const { asks } = (await engine.operations.call('ask.list', {}, CHAIR)) as { asks: WireValue<Ask>[] };
      const [ask] = asks;
      return ask !== undefined && ask.id > after && ask;
    }, 'an ask');

  function start(agent: string, modelUrl: string, ...resume: string[]) {
    const { words, env } = AGENTS[agent]!;
    const file = join(ws.repository.folder, 'prompt.md');
    const home = join(ws.repository.folder, `home-${agent}`);
    mkdirSync(home, { recursive: true });
    writeFileSync(file, 'Say hello in a file.');
    const argv = ['acp', 'run', '--prompt-file', file, ...resume, '--', join(AGENTS_BIN, agent), ...words];
    const child = spawn(process.execPath, [SVC, ...argv], {
      cwd: ws.root,
      // An empty home, without the login and settings of the user who runs the tests.
      env: { ...ws.env, HOME: home, PATH: `${AGENTS_BIN}${delimiter}${ws.env.PATH}`, ...env(modelUrl) },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const reader = createAcpReader();
    let out = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    const ended = once(child, 'close').then(([code]) => code as number | null);
    return {
      child,
      ended,
      out: () => out,
      told: () => `${out}${stderr.slice(-4000)}`,
      facts() {
        for (const line of out.split('\n')) reader.readLine(line);
        return reader.facts();
      },
    };
  }

  type Playing = ReturnType<typeof start>;

  for (const agent of Object.keys(AGENTS)) {
    const given = {
      skip: missing(agent),
      timeout: 180_000,
    };
    const { write, run } = AGENTS[agent]!;

    test(
      `${agent} writes by policy, asks for a command, resumes, and stops when asked to`,
      given,
      async () => {
        const inside = join(ws.root, `${agent}.txt`);
        const script: Script = {
          steps: [
            write(inside),
            run(`touch ${agent}.made`),
            run(`touch ${agent}.not`),
            { say: 'All\ndone.' },
          ],
        };
        const model = await startModel({ script });
        const silent = await startSilent();
        try {
          const playing = start(agent, model.url);
          const first = await openAsk(playing);
          assert.match(first.question, new RegExp(`wants to execute: touch ${agent}\\.made`));
          const [allow] = first.options;
          await engine.operations.call('ask.answer', { id: first.id, answer: allow }, CHAIR);
          const second = await openAsk(playing, first.id);
          const reject = second.options.at(-1);
          await engine.operations.call('ask.answer', { id: second.id, answer: reject }, CHAIR);
          const code = await settled(playing.ended, 'the end of the run', 120_000);
          const facts = playing.facts();
          assert.equal(readFileSync(inside, 'utf8'), 'hello', playing.told());
          assert.match(playing.out(), /"kind":"edit".*"outcome":"allow_once","by":"policy"/);
          assert.match(playing.out(), /"outcome":"reject_once","by":"ada"/);
          assert.ok(existsSync(join(ws.root, `${agent}.made`)), playing.told());
          assert.ok(!existsSync(join(ws.root, `${agent}.not`)));
          // OpenCode ends its turn at a refusal, Claude continues after it.
          const end = facts.end?.ok === false ? facts.end.code : 'done';
          const expected = agent === 'opencode' ? 'permission_denied' : 'done';
          assert.deepEqual([code, end], [0, expected], playing.told());
          assert.ok(facts.toolCalls >= 3 && facts.agentSession !== null);
          assert.ok((facts.usage?.input ?? 0) > 0);

          const again = start(agent, silent.url, '--resume', facts.agentSession);
          const knows = (body: string): boolean => body.includes(`touch ${agent}.not`);
          await until(() => {
            assert.equal(again.child.exitCode, null, again.told());
            return silent.bodies.some(knows);
          }, 'a request of the model that knows of the first run');
          assert.equal(again.facts().agentSession, facts.agentSession);
          again.child.kill('SIGTERM');
          assert.equal(await settled(again.ended), 1, again.told());
          assert.match(again.out(), /\{"acp":"end","stop_reason":"cancelled"/);
          assert.doesNotMatch(again.out(), /"acp":"error"/);
        } finally {
          silent.close();
          await model.close();
        }
      },
    );
  }

  const agent = 'claude-agent-acp';
  const given = { skip: missing(agent) };
  test(`${agent} with a refused key fails as not logged in`, given, async () => {
    const refusing = await startSilent(401);
    try {
      const refused = start(agent, refusing.url);
      assert.equal(await settled(refused.ended, 'the end of the run', 120_000), 1);
      const { end } = refused.facts();
      assert.equal(end?.ok === false && end.code, 'auth_failed', refused.told());
    } finally {
      refusing.close();
    }
  });
});

/** A model that never answers, or refuses every key. */
async function startSilent(status?: number): Promise<{ url: string; bodies: string[]; close(): void }> {
  const bodies: string[] = [];
  const error = { type: 'authentication_error', message: 'invalid x-api-key' };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    bodies.push(body);
    if (request.method !== 'POST') response.writeHead(200).end('{"data":[]}');
    else if (status !== undefined) response.writeHead(status).end(JSON.stringify({ type: 'error', error }));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
