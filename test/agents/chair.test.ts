import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Script, startModel } from '../../fixtures/model/model.ts';
import { type McpServer, missing, runAgent } from '../support/agents/agents.ts';
import { createMcpRecorder, recordHttpRevisions } from '../support/agents/mcp-record.ts';
import { REAL_AGENTS } from '../support/agents/real-agents.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

/** The only task is done, in the text of `task_list`. */
const DONE = '/t-1 done/';

/** Answers are text, so ids are found by their format. */
const ROUND: Script = {
  steps: [
    { call: 'task_run', arguments: { id: 't-999' }, isRefused: true },
    { call: 'task_add', arguments: { title: 'Greet visitors', agent: 'scripted' } },
    { call: 'task_run', as: 'run', arguments: { id: '{{task_add./t-\\d+/}}' } },
    { poll: 'task_list', until: { path: DONE } },
    { call: 'worktree_promote', arguments: { session: '{{run./s-\\d+/}}' } },
    { say: 'promoted {{run./s-\\d+/}}' },
  ],
};

interface Way {
  /** Prepares the workspace before its engine starts; returns the revisions of MCP that were used. */
  record(ws: TestWorkspace): () => string[];
  server(ws: TestWorkspace): McpServer;
}

const recorderOf = ({ repository }: TestWorkspace) => createMcpRecorder(join(repository.folder, 'mcp'));

const WAYS: Record<string, Way> = {
  'svc mcp': {
    record: (ws) => () => recorderOf(ws).readRevisions(),
    server: (ws) => ({
      command: recorderOf(ws).program,
      args: ['mcp'],
      env: { SVC_HOME: String(ws.env.SVC_HOME) },
    }),
  },
  '/mcp': {
    record: recordHttpRevisions,
    server({ root }) {
      const { http, token } = JSON.parse(readFileSync(join(root, '.svc', 'daemon.json'), 'utf8'));
      return { url: `http://${http.host}:${http.port}/mcp`, token };
    },
  },
};

/** Real agent programs, installed by .ci/agents.sh, in the Chair of a real workspace; only the model is fake. */
describe('a real agent program as the Chair', () => {
  const cases = Object.keys(WAYS).flatMap((way) =>
    ['claude', 'codex', 'opencode'].map((agent) => ({ way, agent })),
  );
  for (const { way, agent } of cases) {
    test(`${agent} adds a task, lets a worker do it and promotes it through ${way} in its revision of MCP`, async (t) => {
      const why = missing(agent);
      if (why) return t.skip(why);
      const ws = await makeWorkspace();
      const model = await startModel({ script: ROUND });
      const { record, server } = WAYS[way]!;
      const readRevisions = record(ws);
      try {
        await ws.svc(['up']);
        const ran = await runAgent(agent, {
          prompt: 'Have visitors greeted.',
          modelUrl: model.url,
          mcp: server(ws),
          cwd: ws.root,
          home: join(ws.repository.folder, 'agent-home'),
        });
        assert.deepEqual(model.failures, []);
        assert.equal(ran.code, 0, ran.stderr);
        assert.ok(model.isDone());
        assert.deepEqual(readRevisions(), [REAL_AGENTS[agent]?.revision]);
        const tasks = (await ws.svc(['task', 'list', '--json'])).json<{ status: string; title: string }[]>();
        assert.deepEqual(
          tasks.map(({ status, title }) => ({ status, title })),
          [{ status: 'done', title: 'Greet visitors' }],
        );
        assert.match(ws.repository.git('log', '--format=%s', 'main'), /Greet visitors/);
        assert.deepEqual(ws.survivors(), []);
      } finally {
        await model.close();
        await ws.close();
      }
    });
  }
});
