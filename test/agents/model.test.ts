import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Script, startModel } from '../../fixtures/model/model.ts';
import { missing, runAgent } from '../support/agents/agents.ts';
import { makeRepository } from '../support/workspaces/git.ts';

const MCP_CHILD = fileURLToPath(new URL('../support/agents/mcp-child.js', import.meta.url));
const TWO_FACES_CHILD = fileURLToPath(new URL('../support/agents/two-faces-child.js', import.meta.url));
const TOOLS = ['task_add', 'task_run', 'ask_list', 'ask_answer', 'task_list', 'worktree_promote'];
const PROMPT = 'Go -- "through" the $(whole) round,\nplease.';

const ROUND: Script = {
  when: PROMPT,
  steps: [
    { call: 'task_add', arguments: { title: 'Say hello' } },
    { call: 'task_run', arguments: { id: '{{task_add.id}}' } },
    { call: 'task_run', arguments: { id: 't-9' }, as: 'wrong', isRefused: true },
    { poll: 'ask_list', arguments: { status: 'open' }, until: { path: 'asks' }, pauseMs: 10 },
    {
      call: 'ask_answer',
      arguments: { id: '{{ask_list.asks.0.id}}', answer: 'green, for {{task_add.id}}' },
    },
    {
      poll: 'task_list',
      until: { path: 'tasks.[id={{task_add.id}}].status', equals: 'done' },
      pauseMs: 10,
    },
    { call: 'worktree_promote', arguments: { session: '{{task_run.session}}' } },
    { say: 'promoted {{worktree_promote.session}}' },
  ],
};

const TWO_FACES: Script = {
  when: 'Look at both.',
  steps: [{ call: 'answer', arguments: {} }, { call: 'refusal', arguments: {} }, { say: 'Seen.' }],
};

/** docs/extend/mcp.md documents this, and the texts of our tools rely on it. */
const SHOWN: Record<string, string[]> = {
  claude: ['structure of answer', 'text of refusal'],
  codex: ['structure of answer', 'structure of refusal'],
  opencode: ['text of answer', 'text of refusal'],
};

/** Steps with the agents' own tools, whose names and arguments differ. */
const EDITS: Record<string, (file: string) => Script> = {
  claude: (file) => ({
    steps: [
      { call: 'Write', arguments: { file_path: file, content: 'hello\n' } },
      { call: 'Bash', arguments: { command: 'git add hello.txt', description: 'Stage' } },
    ],
  }),
  codex: (file) => ({
    steps: [{ call: 'exec_command', arguments: { cmd: `echo hello > '${file}' && git add hello.txt` } }],
  }),
  opencode: (file) => ({
    steps: [
      { call: 'write', arguments: { filePath: file, content: 'hello\n' } },
      { call: 'bash', arguments: { command: 'git add hello.txt', description: 'Stage' } },
    ],
  }),
};

/** Real agent programs, installed by .ci/agents.sh, each with another protocol; only the model is fake. */
describe('a real agent program with a scripted model', () => {
  for (const agent of Object.keys(EDITS)) {
    const given = {
      skip: missing(agent),
    };

    test(`${agent} plays a Chair's round trip over a server of tools`, given, async () => {
      const { root, folder, remove } = makeRepository();
      const model = await startModel({ script: ROUND });
      try {
        const ran = await runAgent(agent, {
          prompt: PROMPT,
          modelUrl: model.url,
          mcp: { command: process.execPath, args: [MCP_CHILD] },
          cwd: root,
          home: join(folder, 'home'),
        });
        assert.deepEqual(model.failures, []);
        assert.equal(ran.code, 0, ran.stderr);
        assert.ok(model.isDone());
        assert.match(ran.stdout, /promoted s-1/);
        const calls = model.requests.flatMap(({ call }) => (call !== null && call.step >= 0 ? [call] : []));
        assert.deepEqual(
          calls.map(({ step }) => step),
          [0, 1, 2, 3, 3, 3, 4, 5, 5, 5, 6],
        );
        const [first] = model.requests.filter(({ call }) => call !== null);
        for (const name of TOOLS) {
          assert.ok(
            first?.tools.some((tool) => [`mcp__svc__${name}`, `svc_${name}`].includes(tool)),
            `${name} was not offered`,
          );
        }
      } finally {
        await model.close();
        remove();
      }
    });

    test(`${agent} shows its model the same form of an answer and of a refusal`, given, async () => {
      const { root, folder, remove } = makeRepository();
      const model = await startModel({ script: TWO_FACES });
      try {
        await runAgent(agent, {
          prompt: 'Look at both.',
          modelUrl: model.url,
          mcp: { command: process.execPath, args: [TWO_FACES_CHILD] },
          cwd: root,
          home: join(folder, 'home'),
        });
        const seen = model.requests
          .map(({ body }) => JSON.stringify(body))
          .findLast((body) => body.includes('of refusal'));
        const faces = ['text of answer', 'structure of answer', 'text of refusal', 'structure of refusal'];
        assert.deepEqual(
          faces.filter((face) => seen?.includes(face)),
          SHOWN[agent],
        );
      } finally {
        await model.close();
        remove();
      }
    });

    test(`${agent} edits with its own tools as the script says`, given, async () => {
      const { root, folder, git, remove } = makeRepository();
      const model = await startModel({ script: EDITS[agent]!(join(root, 'hello.txt')) });
      try {
        const ran = await runAgent(agent, {
          prompt: 'Say hello in a file.',
          modelUrl: model.url,
          cwd: root,
          home: join(folder, 'home'),
        });
        assert.deepEqual(model.failures, []);
        assert.equal(ran.code, 0, ran.stderr);
        assert.ok(model.isDone());
        assert.equal(git('diff', '--cached', '--name-only'), 'hello.txt');
      } finally {
        await model.close();
        remove();
      }
    });
  }
});
