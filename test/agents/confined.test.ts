import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, test } from 'node:test';
import { hostEngine } from '../../engine/index.ts';
import { type Script, startModel } from '../../fixtures/model/model.ts';
import { AGENTS_BIN } from '../support/agents/agents.ts';
import { assertArrived, openDesk } from '../support/agents/matrix.ts';
import { COMMIT, REAL_AGENTS, report, skipped } from '../support/agents/real-agents.ts';
import { impossible } from '../support/agents/strict.ts';
import { until } from '../support/wait.ts';
import { engineHere } from '../support/workspaces/engine.ts';
import { makeWorkspace, SVC } from '../support/workspaces/workspace.ts';

const PRIVATE = 'private words';
const TASK = 'Greet visitors by name.';

/** The steps of the worker's model: tries to read from and write to the home, works, reports through its tools. */
const WORKER: Script = {
  when: TASK,
  steps: [
    {
      call: 'Bash',
      arguments: {
        command:
          'cat ~/notes.txt; echo "{}" > ~/.claude/settings.json; echo "{}" > ~/.claude/settings.local.json; echo hello > greeting.txt && git add -A && git commit -qm Greet && echo COMMITTED',
        description: 'Write and commit',
      },
    },
    {
      call: 'verify_report',
      arguments: {
        criteria: [],
        tests: [{ command: 'test -s greeting.txt', passed: true }],
        summary: 'a greeting',
      },
    },
    { say: 'done' },
  ],
};

/** Repeats the dispatch of `dispatch.test.ts` with agents that see only their own files in the person's home. */
describe('a real agent in the sandbox', { concurrency: 2, skip: impossible ?? false }, () => {
  for (const [name, agent] of Object.entries(REAL_AGENTS)) {
    test(`${name} works, reports with our tools, cannot reach the home folder, and resumes after a limit`, {
      skip: skipped(name),
      timeout: 300_000,
    }, async () => {
      const { home, env = {} } = agent;
      const desk = await openDesk({
        agent: name,
        home: { ...home, 'notes.txt': PRIVATE },
        env,
        flags: { 'guard.profile': 'strict' },
      });
      try {
        const notes = join(desk.ws.env.HOME ?? '', 'notes.txt');
        const first = [
          agent.shell(`cat '${notes}'; echo mine > '${notes}'; echo hello > hello.txt; echo LOOKED`),
        ];
        const run = await desk.run(TASK, () => [...first, { fail: { status: 429, retryAfterSec: 1 } }], {
          begun: async ({ session_id }) => desk.limit({ id: session_id }, Date.now() + 1000),
          again: {
            when: 'You were interrupted',
            steps: [...first, agent.shell(COMMIT), ...report(agent), { say: 'It is done.' }],
          },
        });
        const ended = await run.ended();
        assert.deepEqual([ended.failure, desk.failures], [null, []], run.log());
        assert.deepEqual([ended.runs, ended.commits, ended.profile], [2, 1, 'strict'], run.log());
        assert.equal(desk.ws.repository.git('show', `${ended.branch}:hello.txt`), 'hello');
        const { state } = await desk.here.call('verify.status', { session: run.id });
        assert.equal(state, 'reported');
        assertArrived(run.requests().slice(-1), TASK);
        assertArrived(run.requests(), 'LOOKED');
        assert.doesNotMatch(JSON.stringify(run.requests()), new RegExp(PRIVATE));
        assert.equal(readFileSync(notes, 'utf8'), PRIVATE);
        assert.deepEqual(run.marked(), []);
      } finally {
        await desk.close();
      }
    });
  }
});

test('a confined claude finishes its task with its own tools and those of svc', {
  skip: impossible ?? skipped('claude'),
}, async () => {
  const model = await startModel({ script: [WORKER] });
  const ws = await makeWorkspace({
    yaml: 'guard: { profile: strict }\n',
    env: {
      PATH: `${AGENTS_BIN}${delimiter}${process.env.PATH}`,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_AUTH_TOKEN: 'no key',
      GIT_AUTHOR_NAME: 'Worker',
      GIT_AUTHOR_EMAIL: 'worker@example.com',
      GIT_COMMITTER_NAME: 'Worker',
      GIT_COMMITTER_EMAIL: 'worker@example.com',
      IS_SANDBOX: '1',
    },
  });
  const home = join(ws.repository.folder, 'person');
  const settings = '{ "cleanupPeriodDays": 9 }';
  mkdirSync(join(home, '.claude'), { recursive: true });
  writeFileSync(join(home, '.claude', 'settings.json'), settings);
  writeFileSync(join(home, '.claude.json'), '{ "numStartups": 3 }');
  writeFileSync(join(home, 'notes.txt'), PRIVATE);
  ws.env.HOME = home;
  const here = await engineHere(ws, { svc: [process.execPath, SVC] });
  const host = await hostEngine(here.engine);
  try {
    const { decision_id } = await here.ask(TASK, { agent: 'claude' });
    const { session } = await here.call('decision.approve', { id: decision_id });
    assert.ok(session);
    await until(() => here.engine.sessionEnded(session.session_id), undefined, 60_000);
    const log = readFileSync(join(ws.root, '.svc', 'agents', session.session_id, 'log'), 'utf8');
    assert.deepEqual(model.failures, [], log);
    assert.equal(here.engine.resolveSession(session.session_id).failure, null, log);
    assert.match(log, /COMMITTED/);
    assert.doesNotMatch(log, new RegExp(PRIVATE));
    assert.equal(ws.repository.git('show', `svc/${session.session_id}:greeting.txt`), 'hello');
    const { state } = await here.call('verify.status', { session: session.session_id });
    assert.equal(state, 'reported');
    assert.equal(readFileSync(join(home, '.claude', 'settings.json'), 'utf8'), settings);
    assert.equal(existsSync(join(home, '.claude', 'settings.local.json')), false);
    assert.equal(readFileSync(join(home, '.claude.json'), 'utf8'), '{ "numStartups": 3 }');
    assert.deepEqual(ws.survivors(), []);
  } finally {
    await host.close();
    await model.close();
    await ws.close();
  }
});
