import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { EngineClient } from '../../engine/index.ts';
import { type ForgeIssue, REPOSITORY_ID, type Refusal } from '../../fixtures/forge/host.ts';
import { describeKind, startForge, type TestForge, type TestForgeKind } from './forge.ts';
import { makeWorkspace, SECRET, type TestWorkspace } from './workspaces/workspace.ts';

const YAML = `
webhook:
  secret_env: SVC_WEBHOOK_SECRET
  templates: { codehost: { prompt: Fix this. }, explain: { prompt: Explain this. } }
`;
const STRANGER = { login: 'stranger', association: 'NONE' } as const;

/** The differences between the kinds of code hosts that are polled. */
export interface PolledKind {
  /** The requests of a poll without news, without their parameters. */
  quiet: string[];
  /** The headers of a hook, and the parts of its payload; null if the receiver knows no hooks of this kind. */
  hook: { header: string; parts: object } | null;
  /** Refusals that ask for a pause, with the problem and the least pause, ms. */
  limits(inAnHour: number): [Refusal, RegExp, number][];
  /** How a person logs in again. */
  login: string;
  /** Variables that take the login away, and the problem. */
  withoutLogin: [NodeJS.ProcessEnv, RegExp];
  /** The variable that names the host; null for none. */
  hostVariable: string | null;
}

/** Describes how a repository is polled on a kind of code host. */
export function describePolledHost(kind: TestForgeKind, own: PolledKind): void {
  const { title, program, missing, repository } = describeKind(kind);
  describe(`a repository of ${title} that is polled with ${program}`, { skip: missing }, () => {
    let forge: TestForge;
    let ws: TestWorkspace;
    let client: EngineClient;
    const writeYaml = (source: string): string => `sources: [${source}]${YAML}`;
    before(async () => {
      forge = await startForge(kind);
      forge.host.openIssue({ title: 'Old', labels: ['svc'] });
      forge.host.advance(60);
      ws = await makeWorkspace({ yaml: writeYaml(forge.source), hosted: true, env: forge.env });
      client = await ws.connect();
      await poll();
      forge.host.advance(60);
    });
    after(async () => {
      await ws?.close();
      await forge?.close();
    });

    const poll = async () => {
      const [polled] = await client.call('source.poll', { repository });
      return polled!;
    };
    const listTasks = async () => (await client.call('task.list', {})).tasks;

    test('issues that had the label before are not taken, and the trial says so', async () => {
      assert.deepEqual(await listTasks(), []);
      const { code, stdout, stderr } = await ws.svc(['source', 'test']);
      assert.equal(code, 0, stderr);
      assert.ok(stdout.includes(`${repository}:svc: nothing new`), stdout);
      assert.match(stdout, /not taken, since they had the label before: #1/);
    });

    test('an issue that gets the label becomes a task that waits for approval, once', async () => {
      const { number, html_url: page } = forge.host.openIssue({
        title: 'Broken login',
        body: 'It fails.\u001b[31m',
      });
      assert.equal((await poll()).problem, null);
      assert.deepEqual(await listTasks(), []);
      forge.host.addLabel(number, 'svc');
      const tried = await client.call('source.test', {});
      assert.deepEqual(
        tried[0]!.found.map(({ ref }) => ref),
        [`${repository}#2`],
      );
      assert.deepEqual(await listTasks(), []);
      await poll();
      await poll();
      forge.host.removeLabel(number, 'svc');
      forge.host.addLabel(number, 'svc');
      await poll();
      const tasks = await listTasks();
      assert.equal(tasks.length, 1);
      const { task, decision, sessions } = await client.call('task.show', { id: tasks[0]!.task_id });
      assert.deepEqual(
        [task.title, task.source, task.source_ref, task.status],
        ['Broken login', 'codehost', `${repository}#2`, 'assigned'],
      );
      assert.match(task.body, /^Fix this\.\n\nBroken login\n\nIt fails\./);
      assert.equal(decision?.state, 'pending');
      assert.deepEqual([task.source_url, task.author, task.author_role], [page, 'codehost:acme', 'owner']);
      const shown = await ws.svc(['decision', 'show', decision?.decision_id ?? '']);
      assert.match(shown.stdout, /from +codehost \(.*shop#2\) by codehost:acme \(owner\)\n/);
      assert.ok(shown.stdout.includes(`${page}\n`), shown.stdout);
      assert.equal((await client.call('task.page', { id: task.task_id })).url, page);
      assert.deepEqual(sessions, []);
    });

    test('what has not changed costs one request for issues and one for comments', async () => {
      await poll();
      const before = forge.host.requests.length;
      await poll();
      const made = forge.host.requests.slice(before);
      assert.deepEqual(
        made.map((each) => each.replace(/\?.* /, ' ')),
        own.quiet,
      );
    });

    const newestTask = async () => {
      const [{ task_id: id } = { task_id: '' }] = await listTasks();
      return client.call('task.show', { id });
    };

    test('a comment that names a template becomes a task, and any other is left alone', async () => {
      const count = (await listTasks()).length;
      forge.host.comment(2, 'What about /svc explain?');
      forge.host.comment(2, '/svc explain why\r\nIn two lines, please.', STRANGER);
      forge.host.comment(2, '/svc unknown');
      const { ignored } = await poll();
      assert.equal((await listTasks()).length, count + 1);
      const { task } = await newestTask();
      assert.deepEqual([task.body, task.source_ref], ['why', `${repository}#2`]);
      assert.match(
        task.context ?? '',
        /A comment on .*shop#2: https:.*#(?:issuecomment-|note_)\d+\n\nIn two lines, please\./,
      );
      assert.match(task.stranger ?? '', /codehost:stranger is not an owner, member or collaborator/);
      assert.equal(ignored.length, 1);
      assert.match(ignored[0]!.reason, /unknown/);
      const listed = await ws.svc(['source', 'list']);
      assert.match(listed.stdout, /^acme\/.*shop\tsvc\t\d/);
      assert.match(listed.stderr, /no task: .*shop#2: .*unknown/);
      await poll();
      assert.equal((await listTasks()).length, count + 1);
    });

    test('the person who set the label counts, and the label of a form is the author’s own', async () => {
      forge.host.openIssue({ title: 'By a form', by: STRANGER, labels: ['svc'] });
      await poll();
      assert.match((await newestTask()).task.stranger ?? '', /author codehost:stranger is not an owner/);
      const { number } = forge.host.openIssue({
        title: 'By a member',
        by: { login: 'mel', association: 'MEMBER' },
      });
      forge.host.addLabel(number, 'svc', STRANGER);
      await poll();
      assert.match((await newestTask()).task.stranger ?? '', /sent here by codehost:stranger/);
    });

    test('an author whose role the code host does not show is a stranger, and a member is none', async (t) => {
      if (kind === 'github') return t.skip('GitHub shows the role of each author');
      const by = { login: 'mia', association: 'COLLABORATOR' } as const;
      forge.host.openIssue({ title: 'By a member', by, labels: ['svc'] });
      await poll();
      assert.equal((await newestTask()).task.stranger, null);
      forge.host.hideRoles(true);
      forge.host.openIssue({ title: 'By someone', by, labels: ['svc'] });
      await poll();
      forge.host.hideRoles(false);
      assert.match((await newestTask()).task.stranger ?? '', /author codehost:mia is not an owner/);
      forge.host.openIssue({
        title: 'By a reader',
        by: { login: 'rob', association: 'CONTRIBUTOR' },
        labels: ['svc'],
      });
      await poll();
      assert.match((await newestTask()).task.stranger ?? '', /author codehost:rob is not an owner/);
    });

    test('a pull request with the label is not taken for an issue', async (t) => {
      if (kind === 'gitlab') return t.skip('GitLab lists no merge requests as issues');
      const count = (await listTasks()).length;
      forge.host.openIssue({ title: 'A change', labels: ['svc'], isPullRequest: true });
      await poll();
      assert.equal((await listTasks()).length, count);
    });

    test('an issue that a hook and a poll report is one task, whichever comes first', async (t) => {
      const { hook } = own;
      if (hook === null) return t.skip('the receiver knows no hooks of this kind');
      const count = (await listTasks()).length;
      const receiver = await ws.receiver();
      async function sendHook(issue: ForgeIssue): Promise<number> {
        const body = JSON.stringify({
          ...{ ...hook?.parts, issue, sender: { login: 'acme' } },
          repository: {
            ...{ id: REPOSITORY_ID, full_name: repository },
            html_url: `https://${forge.host.address}/${repository}`,
            owner: { login: 'acme' },
          },
        });
        const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
        const sent = await fetch(`http://${receiver}/codehost`, {
          ...{ method: 'POST', body },
          headers: {
            ...{ 'content-type': 'application/json', [hook?.header ?? '']: 'issues' },
            'x-hub-signature-256': signature,
          },
        });
        return sent.status;
      }
      const first = forge.host.openIssue({ title: 'Hook first', labels: ['svc'] });
      assert.equal(await sendHook(first), 201);
      await poll();
      const second = forge.host.openIssue({ title: 'Poll first', labels: ['svc'] });
      await poll();
      assert.equal(await sendHook(second), 200);
      assert.equal((await listTasks()).length, count + 2);
    });

    test('more issues than a page has become tasks, oldest first', async () => {
      const count = (await listTasks()).length;
      for (let at = 1; at <= 105; at += 1) forge.host.openIssue({ title: `Bulk ${at}`, labels: ['svc'] });
      await poll();
      assert.equal((await client.call('task.list', { limit: 500 })).tasks.length, count + 105);
      assert.equal((await newestTask()).task.title, 'Bulk 105');
    });

    test('each kind of failure is named, changes nothing, and is over once the host answers', async () => {
      const { number } = forge.host.openIssue({ title: 'During an outage', labels: ['svc'] });
      const inAnHour = Math.ceil(Date.now() / 1000) + 3600;
      const failures: [Refusal, RegExp, number][] = [
        [{ status: 401 }, new RegExp(`refused.*${own.login}`), 0],
        [{ status: 404 }, /refused (?:repos|projects)\/acme\/.*shop\/issues/, 0],
        [{ status: 500, body: '<html>' }, /status 500/, 0],
        [{ status: 200, body: 'not JSON' }, /status 200/, 0],
        [{ status: 200, body: '{"an":"object"}' }, /something other than a list/, 0],
        ...own.limits(inAnHour),
      ];
      for (const [refusal, problem, pauseMs] of failures) {
        forge.host.refuse(refusal);
        const polled = await poll();
        assert.match(polled.problem ?? '', problem);
        assert.ok(Date.parse(polled.next_at ?? '') - Date.now() >= pauseMs, `${problem}: ${polled.next_at}`);
        assert.notEqual(polled.failing_since, null);
      }
      const [, last] = failures.at(-1)!;
      await assert.rejects(client.call('source.test', {}), { code: 'program_failed', message: last });
      const status = await ws.svc(['status']);
      assert.match(status.stdout, new RegExp(`sources +acme/.*shop: ${title} limits the requests`));
      const doctor = await ws.svc(['doctor']);
      assert.match(doctor.stdout, new RegExp(`acme/.*shop: ${title} limits the requests`));
      forge.host.refuse(null);
      const { problem, failing_since } = await poll();
      assert.deepEqual([problem, failing_since], [null, null]);
      assert.equal((await newestTask()).task.source_ref, `${repository}#${number}`);
    });

    test('a missing program, a missing login and an unreachable host are named', async () => {
      const { hostVariable } = own;
      const unreachable = forge.source.replace(forge.host.address, 'localhost:2');
      const attempts: [NodeJS.ProcessEnv, RegExp, string?][] = [
        [{ PATH: '/nonexistent' }, new RegExp(`${program} is not installed`)],
        own.withoutLogin,
        ...(hostVariable === null
          ? []
          : [
              [
                { [hostVariable]: 'localhost:2' },
                new RegExp(`${program} could not ask ${title}: .*refused`, 'i'),
                unreachable,
              ] satisfies [NodeJS.ProcessEnv, RegExp, string],
            ]),
      ];
      for (const [env, problem, source = forge.source] of attempts) {
        const yaml = writeYaml(source);
        const other = await makeWorkspace({ yaml, hosted: true, env: { ...forge.env, ...env } as never });
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
}
