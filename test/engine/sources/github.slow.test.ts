import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { findProgram } from '../../../engine/core/base/find-program.ts';
import type { EngineClient } from '../../../engine/index.ts';
import {
  type ForgeIssue,
  type Refusal,
  type ScriptedGithub,
  startGithub,
} from '../../../fixtures/forge/github.ts';
import { AUTHORITY } from '../../../fixtures/tls/certificate.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';
import { makeWorkspace, SECRET, type TestWorkspace } from '../../support/workspaces/workspace.ts';

const GH_MISSING =
  findProgram('gh', { cwd: '/', path: process.env.PATH }) === undefined ? 'gh is not installed' : false;

const YAML = `
sources: [{ kind: github, repository: acme/shop }]
webhook:
  secret_env: SVC_WEBHOOK_SECRET
  templates: { codehost: { prompt: Fix this. }, explain: { prompt: Explain this. } }
`;
const STRANGER = { login: 'stranger', association: 'NONE' } as const;
const TOKEN = 'gho_token';

describe('a repository of GitHub that is polled with gh', { skip: GH_MISSING }, () => {
  let github: ScriptedGithub;
  let ws: TestWorkspace;
  let client: EngineClient;
  let authority: string;
  const access = () => ({
    ...{ GH_HOST: github.host, GH_ENTERPRISE_TOKEN: TOKEN, GH_CONFIG_DIR: '/nonexistent' },
    SSL_CERT_FILE: authority,
  });
  before(async () => {
    authority = join(temporaryFolder('svc-test-authority-'), 'authority.pem');
    writeFileSync(authority, AUTHORITY);
    github = await startGithub({ token: TOKEN });
    github.openIssue({ title: 'Old', labels: ['svc'] });
    github.advance(60);
    ws = await makeWorkspace({
      yaml: YAML,
      hosted: true,
      env: access(),
    });
    client = await ws.connect();
    await poll();
    github.advance(60);
  });
  after(async () => {
    await ws?.close();
    await github?.close();
    rmSync(dirname(authority), { recursive: true });
  });

  const poll = async () => {
    const [polled] = await client.call('source.poll', { repository: 'acme/shop' });
    return polled!;
  };
  const listTasks = async () => (await client.call('task.list', {})).tasks;

  test('issues that had the label before are not taken, and the trial says so', async () => {
    assert.deepEqual(await listTasks(), []);
    const { code, stdout, stderr } = await ws.svc(['source', 'test']);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /github:acme\/shop:svc: nothing new/);
    assert.match(stdout, /not taken, since they had the label before: #1/);
  });

  test('an issue that gets the label becomes a task that waits for approval, once', async () => {
    const { number } = github.openIssue({ title: 'Broken login', body: 'It fails.\u001b[31m' });
    assert.equal((await poll()).problem, null);
    assert.deepEqual(await listTasks(), []);
    github.addLabel(number, 'svc');
    const tried = await client.call('source.test', {});
    assert.deepEqual(
      tried[0]!.found.map(({ ref }) => ref),
      ['acme/shop#2'],
    );
    assert.deepEqual(await listTasks(), []);
    await poll();
    await poll();
    github.removeLabel(number, 'svc');
    github.addLabel(number, 'svc');
    await poll();
    const tasks = await listTasks();
    assert.equal(tasks.length, 1);
    const { task, decision, sessions } = await client.call('task.show', { id: tasks[0]!.task_id });
    assert.deepEqual(
      [task.title, task.source, task.source_ref, task.status],
      ['Broken login', 'codehost', 'acme/shop#2', 'assigned'],
    );
    assert.match(task.body, /^Fix this\.\n\nBroken login\n\nIt fails\./);
    assert.equal(decision?.state, 'pending');
    const page = `https://${github.host}/acme/shop/issues/2`;
    assert.deepEqual([task.source_url, task.author, task.author_role], [page, 'codehost:acme', 'owner']);
    const shown = await ws.svc(['decision', 'show', decision?.decision_id ?? '']);
    assert.match(shown.stdout, /from +codehost \(acme\/shop#2\) by codehost:acme \(owner\)\n/);
    assert.ok(shown.stdout.includes(`${page}\n`), shown.stdout);
    assert.equal((await client.call('task.page', { id: task.task_id })).url, page);
    assert.deepEqual(sessions, []);
  });

  test('what has not changed costs one conditional request for issues and one for comments', async () => {
    await poll();
    const before = github.requests.length;
    await poll();
    const made = github.requests.slice(before);
    assert.deepEqual(
      made.map((each) => each.replace(/\?.* /, ' ')),
      ['GET /repos/acme/shop/issues 304', 'GET /repos/acme/shop/issues/comments 304'],
    );
  });

  const newestTask = async () => {
    const [{ task_id: id } = { task_id: '' }] = await listTasks();
    return client.call('task.show', { id });
  };

  test('a comment that names a template becomes a task, and any other is left alone', async () => {
    const count = (await listTasks()).length;
    github.comment(2, 'What about /svc explain?');
    github.comment(2, '/svc explain why\r\nIn two lines, please.', STRANGER);
    github.comment(2, '/svc unknown');
    const { ignored } = await poll();
    assert.equal((await listTasks()).length, count + 1);
    const { task } = await newestTask();
    assert.deepEqual([task.body, task.source_ref], ['why', 'acme/shop#2']);
    assert.match(
      task.context ?? '',
      /A comment on acme\/shop#2: https:.*#issuecomment-\d+\n\nIn two lines, please\./,
    );
    assert.match(task.stranger ?? '', /codehost:stranger is not an owner, member or collaborator/);
    assert.equal(ignored.length, 1);
    assert.match(ignored[0]!.reason, /unknown/);
    const listed = await ws.svc(['source', 'list']);
    assert.match(listed.stdout, /^acme\/shop\tsvc\t\d/);
    assert.match(listed.stderr, /no task: acme\/shop#2: .*unknown/);
    await poll();
    assert.equal((await listTasks()).length, count + 1);
  });

  test('the person who set the label counts, and the label of a form is the author’s own', async () => {
    github.openIssue({ title: 'By a form', by: STRANGER, labels: ['svc'] });
    await poll();
    assert.match((await newestTask()).task.stranger ?? '', /author codehost:stranger is not an owner/);
    const { number } = github.openIssue({
      title: 'By a member',
      by: { login: 'mel', association: 'MEMBER' },
    });
    github.addLabel(number, 'svc', STRANGER);
    await poll();
    assert.match((await newestTask()).task.stranger ?? '', /sent here by codehost:stranger/);
  });

  test('a pull request with the label is not taken for an issue', async () => {
    const count = (await listTasks()).length;
    github.openIssue({ title: 'A change', labels: ['svc'], isPullRequest: true });
    await poll();
    assert.equal((await listTasks()).length, count);
  });

  test('an issue that a hook and a poll report is one task, whichever comes first', async () => {
    const count = (await listTasks()).length;
    const receiver = await ws.receiver();
    async function sendHook(issue: ForgeIssue): Promise<number> {
      const body = JSON.stringify({
        action: 'labeled',
        ...{ issue, label: { name: 'svc' }, sender: { login: 'acme' } },
        repository: {
          ...{ id: 77, full_name: 'acme/shop', html_url: `https://${github.host}/acme/shop` },
          owner: { login: 'acme' },
        },
      });
      const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
      const sent = await fetch(`http://${receiver}/codehost`, {
        ...{ method: 'POST', body },
        headers: {
          ...{ 'content-type': 'application/json', 'x-github-event': 'issues' },
          'x-hub-signature-256': signature,
        },
      });
      return sent.status;
    }
    const first = github.openIssue({ title: 'Hook first', labels: ['svc'] });
    assert.equal(await sendHook(first), 201);
    await poll();
    const second = github.openIssue({ title: 'Poll first', labels: ['svc'] });
    await poll();
    assert.equal(await sendHook(second), 200);
    assert.equal((await listTasks()).length, count + 2);
  });

  test('more issues than a page has become tasks, oldest first', async () => {
    const count = (await listTasks()).length;
    for (let at = 1; at <= 105; at += 1) github.openIssue({ title: `Bulk ${at}`, labels: ['svc'] });
    await poll();
    assert.equal((await client.call('task.list', { limit: 500 })).tasks.length, count + 105);
    assert.equal((await newestTask()).task.title, 'Bulk 105');
  });

  test('each kind of failure is named, changes nothing, and is over once the host answers', async () => {
    const { number } = github.openIssue({ title: 'During an outage', labels: ['svc'] });
    const inAnHour = Math.ceil(Date.now() / 1000) + 3600;
    const failures: [Refusal, RegExp, number][] = [
      [{ status: 401 }, /refused.*gh auth login/, 0],
      [{ status: 404 }, /refused repos\/acme\/shop\/issues/, 0],
      [{ status: 500, body: '<html>' }, /status 500/, 0],
      [{ status: 200, body: 'not JSON' }, /status 200/, 0],
      [{ status: 200, body: '{"an":"object"}' }, /something other than a list/, 0],
      [
        {
          status: 403,
          headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(inAnHour) },
        },
        /limits the requests/,
        3500_000,
      ],
      [{ status: 429, headers: { 'retry-after': '120' } }, /limits the requests/, 119_000],
      [{ status: 403, body: '{"message":"You have exceeded a secondary rate limit"}' }, /secondary/, 59_000],
    ];
    for (const [refusal, problem, pauseMs] of failures) {
      github.refuse(refusal);
      const polled = await poll();
      assert.match(polled.problem ?? '', problem);
      assert.ok(Date.parse(polled.next_at ?? '') - Date.now() >= pauseMs, `${problem}: ${polled.next_at}`);
      assert.notEqual(polled.failing_since, null);
    }
    await assert.rejects(client.call('source.test', {}), { code: 'program_failed', message: /secondary/ });
    const status = await ws.svc(['status']);
    assert.match(status.stdout, /sources +acme\/shop: GitHub limits the requests/);
    const doctor = await ws.svc(['doctor']);
    assert.match(doctor.stdout, /acme\/shop: GitHub limits the requests/);
    github.refuse(null);
    const { problem, failing_since } = await poll();
    assert.deepEqual([problem, failing_since], [null, null]);
    assert.equal((await newestTask()).task.source_ref, `acme/shop#${number}`);
  });

  test('a missing program, a missing login and an unreachable host are named', async () => {
    const attempts: [NodeJS.ProcessEnv, RegExp][] = [
      [{ PATH: '/nonexistent' }, /gh is not installed/],
      [{ GH_ENTERPRISE_TOKEN: '' }, /gh auth login/],
      [{ GH_HOST: 'localhost:1' }, /gh could not ask GitHub: .*refused/],
    ];
    for (const [env, problem] of attempts) {
      const other = await makeWorkspace({ yaml: YAML, hosted: true, env: { ...access(), ...env } as never });
      try {
        const engine = await other.connect();
        const [polled] = await engine.call('source.poll', {});
        assert.match(polled?.problem ?? '', problem);
      } finally {
        await other.close();
      }
    }
  });

  test('only the Chair polls, and an unknown repository is an error', async () => {
    await assert.rejects(client.call('source.poll', { repository: 'acme/other' }), { code: 'not_found' });
  });
});
