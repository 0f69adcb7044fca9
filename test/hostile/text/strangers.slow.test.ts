import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { SvcError } from '../../../engine/core/base/errors.ts';
import { SCHEMES, signRequest } from '../../../engine/core/http/signature.ts';
import type { Decision, Session, Task, TaskPlan, WireValue } from '../../../engine/index.ts';
import { comment, issueLabeled, issueOpened } from '../../../fixtures/payloads/events.ts';
import { visitor } from '../../../fixtures/payloads/repository.ts';
import { impossible } from '../../support/agents/strict.ts';
import { hostile } from '../../support/hostile.ts';
import { until } from '../../support/wait.ts';
import { type EngineHere, engineHere } from '../../support/workspaces/engine.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';
import { makeWorkspace, SECRET, SVC, type TestWorkspace } from '../../support/workspaces/workspace.ts';

interface Shown {
  decision: WireValue<Decision>;
  task: WireValue<Task>;
  plan: WireValue<TaskPlan>;
}
interface TaskShown {
  task: WireValue<Task>;
  sessions: WireValue<Session>[];
}

interface Rig {
  ws: TestWorkspace;
  here: EngineHere;
  post(path: string, body: string, headers: Record<string, string>): Promise<Record<string, string>>;
  codehost(payload: object): Promise<Record<string, string>>;
  chat(text: string, user: string, shown?: string): Promise<string>;
  show(id: string): Promise<Shown>;
  task(id: string): Promise<TaskShown>;
}

const WEBHOOK = `webhook:
  secret_env: SVC_WEBHOOK_SECRET
  require_approval: false
  templates: { codehost: { agent: scripted }, fix: { agent: scripted, prompt: "#agent: no-change" } }
`;

async function open(
  t: TestContext,
  { yaml = WEBHOOK, path }: { yaml?: string; path?: string } = {},
): Promise<Rig> {
  const ws = await makeWorkspace({ yaml, ...(path === undefined ? {} : { env: { PATH: path } }) });
  const here = await engineHere(ws, { workerCap: 1, svc: [process.execPath, SVC], graceMs: 500 });
  const { address } = await here.engine.listen({ host: '127.0.0.1', port: 0, secrets: [SECRET] });
  t.after(async () => {
    await here?.end();
    await ws.close();
  });
  const post: Rig['post'] = async (route, body, headers) => {
    const answer = await fetch(`http://${address.host}:${address.port}${route}`, {
      method: 'POST',
      body,
      headers,
    });
    return (await answer.json()) as Record<string, string>;
  };
  return {
    ws,
    here,
    post,
    async codehost(payload) {
      const body = JSON.stringify(payload);
      return post('/codehost', body, {
        'x-hub-signature-256': signRequest(SCHEMES.codehost, SECRET, '', body),
      });
    },
    async chat(text, user_id, user_name = 'ada') {
      const body = new URLSearchParams({
        user_id,
        user_name,
        text,
        trigger_id: String(Math.random()),
      }).toString();
      const at = String(Math.floor(Date.now() / 1000));
      const headers = {
        'x-chat-request-timestamp': at,
        'x-chat-signature': signRequest(SCHEMES.chat, SECRET, at, body),
      };
      return (await post('/chat', body, headers)).text ?? '';
    },
    show: (id) => here.call('decision.show', { id }),
    task: (id) => here.call('task.show', { id }),
  };
}

/** Creates a folder of links to every program on PATH except one. */
function pathWithout(name: string): { bin: string; remove(): void } {
  const bin = temporaryFolder('svc-path-');
  for (const folder of (process.env.PATH ?? '').split(':').filter((each) => existsSync(each)))
    for (const program of readdirSync(folder))
      if (program !== name && !existsSync(join(bin, program))) {
        try {
          symlinkSync(join(folder, program), join(bin, program));
        } catch {
          // A dangling link has taken the name.
        }
      }
  return { bin, remove: () => rmSync(bin, { recursive: true, force: true }) };
}

const eve = { user: visitor, association: 'NONE' } as const;
const code = (expected: string) => (error: SvcError) => {
  assert.equal(error.code, expected, error.message);
  return true;
};

hostile(
  {
    attacker: 'text',
    tries: 'have an untrusted issue, comment or label run where requests need no approval',
    lite: 'waits, then runs confined',
    strict: 'waits, then runs confined',
  },
  async (t) => {
    const { here, codehost, show, task } = await open(t);
    const member = issueOpened({ id: 1 });
    assert.equal(
      ((await codehost({ ...member, sender: member.issue.user })) as object as { dispatched: boolean })
        .dispatched,
      true,
    );
    const waits = [
      await codehost(issueOpened({ ...eve, id: 2 })),
      await codehost(issueLabeled('svc', { ...eve, id: 3 })),
      await codehost(comment('/svc fix', { ...eve, id: 4 })),
      await codehost({ ...member, issue: { ...member.issue, id: 5 }, sender: { login: 'mallory', id: 9 } }),
    ];
    for (const { decision_id = '', task_id = '' } of waits) {
      const { decision, plan, task: of } = await show(decision_id);
      assert.match(decision.why, /^untrusted author: /);
      assert.deepEqual([decision.state, plan.profile], ['pending', 'strict']);
      assert.notEqual(of.stranger, null);
      assert.deepEqual((await task(task_id)).sessions, []);
    }
    const listed = await here.call('decision.list', {});
    assert.ok(listed.filter(({ stranger }) => stranger !== null).length >= 4);
    const asked = here.engine.events.listAfter(0).filter(({ kind }) => kind === 'needs_approval');
    assert.ok(asked.length >= 4);
    assert.ok(asked.every(({ data }) => String(data.why).startsWith('untrusted author: ')));
  },
);

hostile(
  {
    attacker: 'text',
    tries: 'run unconfined after an approval, a retry or a resume',
    lite: 'runs confined anyway',
    strict: 'runs confined',
  },
  async (t) => {
    const { here, codehost, task } = await open(t);
    const { decision_id = '', task_id = '' } = await codehost(
      issueOpened({ ...eve, id: 1, title: '#agent: fail', body: '#agent: fail' }),
    );
    const ended = async (count: number) => {
      await until(
        async () => (await task(task_id)).sessions.filter(({ state }) => state === 'ended').length === count,
      );
      return (await task(task_id)).sessions[count - 1]!;
    };
    await assert.rejects(
      here.call('decision.approve', { id: decision_id, unconfined: task_id }),
      code('usage'),
    );
    await here.call('decision.approve', { id: decision_id });
    const first = await ended(1);
    assert.equal(first.profile, 'strict');
    await here.call('task.retry', { id: task_id });
    assert.equal((await ended(2)).profile, 'strict');
    await here.call('worker.resume', { session: 's-2', outside: true });
    assert.equal((await ended(3)).profile, 'strict', '--outside is only for tasks of known people');
  },
  { skip: impossible },
);

hostile(
  {
    attacker: 'text',
    tries: 'be approved by a request, a chat, a tool or a script without a sandbox',
    lite: 'refused: a person types its id',
    strict: 'refused',
  },
  async (t) => {
    // All programs except bubblewrap are on PATH.
    const { bin, remove } = pathWithout('bwrap');
    t.after(remove);
    const { here, ws, codehost, chat, post, show, task } = await open(t, { path: bin });
    const { decision_id = '', task_id = '' } = await codehost(
      issueOpened({ ...eve, id: 1, title: '#agent: no-change', body: '#agent: no-change' }),
    );
    assert.equal((await show(decision_id)).plan.problem?.code, 'tool_missing');
    for (const nothing of [{}, { unconfined: '' }])
      await assert.rejects(
        here.call('decision.approve', { id: decision_id, ...nothing }),
        code('tool_missing'),
      );
    for (const unconfined of ['yes', decision_id, task_id.toUpperCase()])
      await assert.rejects(
        here.call('decision.approve', { id: decision_id, unconfined }),
        code('approval_required'),
        unconfined,
      );
    await assert.rejects(
      here.call('decision.approve', { id: decision_id, unconfined: task_id }, { via: 'tool' }),
      code('approval_required'),
    );
    await assert.rejects(
      here.call(
        'decision.approve',
        { id: decision_id, unconfined: task_id },
        { seat: 'worker', sessionId: 's-9' },
      ),
      code('chair_only'),
    );
    const unrun = async (count: number) => {
      await until(async () => {
        const { sessions } = await task(task_id);
        return sessions.length === count && sessions.every(({ state }) => state === 'ended');
      });
      const { task: now, sessions } = await task(task_id);
      assert.ok(
        sessions.every((each) => each.failure?.code === 'inputs_changed' && each.started_at === null),
      );
      assert.equal(now.status, 'assigned');
      return now.decision_id ?? '';
    };
    // Automatic approval does not start the task either; it waits again.
    const nonce = JSON.stringify({ nonce: 1, unconfined: task_id });
    const at = String(Math.floor(Date.now() / 1000));
    await post(`/decisions/${decision_id}/approve`, nonce, {
      'x-svc-timestamp': at,
      'x-svc-signature': signRequest(SCHEMES.svc, SECRET, at, nonce),
    });
    const second = await unrun(1);
    await chat(`approve ${second} ${task_id}`, 'U1');
    const third = await unrun(2);
    await here.call('task.run', { id: task_id });
    const fourth = await unrun(3);
    assert.equal(new Set([decision_id, second, third, fourth]).size, 4);
    const script = await ws.svc(['decision', 'approve', fourth, '--unconfined'], { input: `${task_id}\n` });
    assert.notEqual(script.code, 0);
    assert.match(script.stderr, /only be let out of the sandbox at a terminal/);

    // A person who has read it and types its id.
    await here.call('decision.approve', { id: fourth, unconfined: task_id }, { via: 'cli' });
    await until(async () => (await task(task_id)).task.status === 'done');
    assert.equal((await task(task_id)).sessions.at(-1)?.profile, 'lite');
  },
);

hostile(
  {
    attacker: 'text',
    tries: 'act in the chat under an approver’s name',
    lite: 'refused',
    strict: 'refused',
  },
  async (t) => {
    const { here, chat, show } = await open(t, {
      yaml: `${WEBHOOK}policy: { mode: allowlist, actors: [ada, webhook, "chat:U1"] }\n`,
    });
    const text = await chat('fix', 'U666', 'chat:U1');
    const id = /(d-\d+)/.exec(text)?.[1] ?? '';
    for (const [user, shown] of [
      ['U666', 'ada'],
      ['ada', 'ada'],
      ['webhook', 'webhook'],
      ['U1\u200b', 'ada'],
      ['\u0055\u0301', 'ada'],
      ['', 'ada'],
    ] as const)
      assert.match(await chat(`approve ${id}`, user, shown), /policy\.actors|user_id/, user);
    assert.equal((await show(id)).decision.state, 'pending');
    const claims = [
      'chat:U1',
      'CHAT:U1',
      'codehost:octocat',
      'webhook',
      ' webhook',
      'ｃhat:U1',
      'ada\u202e',
      'a\u0000',
    ];
    for (const actor of claims) {
      await assert.rejects(here.call('task.run', { id: 't-1', actor }), (error: SvcError) => {
        assert.ok(['actor_denied', 'unknown'].includes(error.code), `${actor}: ${error.code}`);
        return true;
      });
    }
  },
);

hostile(
  {
    attacker: 'text',
    tries: 'claim an actor of a chat or code host by SVC_ACTOR',
    lite: 'refused',
    strict: 'refused',
  },
  async (t) => {
    const ws = await makeWorkspace();
    t.after(() => ws.close());
    for (const SVC_ACTOR of ['chat:U1', 'codehost:octocat', 'webhook', 'Webhook ']) {
      const { code, stderr } = await ws.svc(['task', 'list'], { env: { SVC_ACTOR } });
      assert.equal(code, 3, SVC_ACTOR);
      assert.match(stderr, /is reserved for people outside/);
    }
    assert.equal((await ws.svc(['task', 'list'], { env: { SVC_ACTOR: 'chatty' } })).code, 0);
  },
);
