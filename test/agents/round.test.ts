import assert from 'node:assert/strict';
import { delimiter, join } from 'node:path';
import { describe, test } from 'node:test';
import { type Script, startModel } from '../../fixtures/model/model.ts';
import { AGENTS_BIN, missing, runAgent } from '../support/agents/agents.ts';
import { makeWorkspace, SVC } from '../support/workspaces/workspace.ts';

const PLEASE = 'Have visitors greeted, please.';
const TASK = 'Greet visitors by name.';

/** The steps of the Chair's model: plans, starts, answers, reads the evidence, merges. */
const CHAIR: Script = {
  when: PLEASE,
  steps: [
    {
      call: 'task_add',
      arguments: { title: TASK, agent: 'claude', acceptance_criteria: ['there is a greeting'] },
    },
    { call: 'task_run', as: 'run', arguments: { id: '{{task_add./t-\\d+/}}' } },
    { poll: 'ask_list', arguments: { status: 'open' }, until: { path: '/Formal or casual/' } },
    { call: 'ask_answer', arguments: { id: 1, answer: 'formal' } },
    { poll: 'task_list', until: { path: '/t-1 done/' } },
    { call: 'verify_status', arguments: { session: '{{run./s-\\d+/}}' } },
    { call: 'worktree_promote', arguments: { session: '{{run./s-\\d+/}}' } },
    { say: 'merged' },
  ],
};

/** The steps of the worker's model: gets stuck, asks, works with its own tools, reports. */
const WORKER: Script = {
  when: TASK,
  steps: [
    { call: 'ask', arguments: { question: 'Formal or casual?', options: ['formal', 'casual'] } },
    {
      call: 'Bash',
      arguments: {
        command:
          "echo 'Good day, {{ask./formal/}} visitor' > greeting.txt && git add -A && git commit -qm 'Greet visitors'",
        description: 'Write and commit',
      },
    },
    {
      call: 'verify_report',
      arguments: {
        criteria: [{ index: 1, met: true }],
        tests: [{ command: 'test -s greeting.txt', passed: true }],
        summary: 'a greeting',
      },
    },
    { say: 'done' },
  ],
};

/** Both seats are real agent programs of .ci/agents.sh, with svc configured as for users; only the model is fake. */
describe('a Chair and a worker that are real agents', () => {
  for (const chair of ['claude', 'codex', 'opencode']) {
    test(`${chair} has claude do a task, answers its question and merges what it verified`, async (t) => {
      const why = missing(chair) || missing('claude');
      if (why) return t.skip(why);
      const model = await startModel({ script: [CHAIR, WORKER] });
      const ws = await makeWorkspace({
        env: {
          PATH: `${AGENTS_BIN}${delimiter}${process.env.PATH}`,
          ANTHROPIC_BASE_URL: model.url,
          ANTHROPIC_AUTH_TOKEN: 'no key',
          GIT_AUTHOR_NAME: 'Worker',
          GIT_AUTHOR_EMAIL: 'worker@example.com',
          GIT_COMMITTER_NAME: 'Worker',
          GIT_COMMITTER_EMAIL: 'worker@example.com',
          IS_SANDBOX: '1',
          DISABLE_AUTOUPDATER: '1',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        },
      });
      try {
        await ws.svc(['up'], { env: { HOME: join(ws.repository.folder, 'worker-home') } });
        const ran = await runAgent(chair, {
          prompt: PLEASE,
          modelUrl: model.url,
          mcp: { command: process.execPath, args: [SVC, 'mcp'], env: { SVC_HOME: String(ws.env.SVC_HOME) } },
          cwd: ws.root,
          home: join(ws.repository.folder, 'chair-home'),
        });
        assert.deepEqual(model.failures, []);
        assert.equal(ran.code, 0, ran.stderr);
        assert.equal(ws.repository.git('show', 'main:greeting.txt').trim(), 'Good day, formal visitor');
        const wasShown = model.requests.some(({ body }) => JSON.stringify(body).includes('reported'));
        assert.ok(wasShown, 'the Chair saw that the evidence is only reported');
        const shown = (await ws.svc(['verify', 'show', 's-1', '--json'])).json<{ state: string }>();
        assert.equal(shown.state, 'reported');
        assert.deepEqual(ws.survivors(), []);
      } finally {
        await model.close();
        await ws.close();
      }
    });
  }
});
