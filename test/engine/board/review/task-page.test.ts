import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { SvcError } from '../../../../engine/core/base/errors.ts';
import type { EngineClient } from '../../../../engine/index.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

const YAML = `webhook:
  secret_env: SVC_WEBHOOK_SECRET
  allow: [task, codehost]
  templates: { codehost: { agent: scripted, prompt: Resolve it. } }
`;

describe('the page of a task', () => {
  let ws: TestWorkspace;
  let client: EngineClient;
  /** A task that came from the issue `svc/sample#N`. */
  let id: string;
  let reference: string;
  before(async () => {
    ws = await makeWorkspace({ hosted: true, yaml: YAML });
    client = await ws.connect();
    const sent = await ws.svc(['webhook', 'test', '--route', 'codehost', '--prompt', 'An issue']);
    assert.equal(sent.code, 0, sent.stderr);
    const { tasks } = await client.call('task.list', {});
    const task = tasks.find(({ source }) => source === 'codehost');
    id = task!.task_id;
    reference = task!.source_ref!;
    assert.match(reference, /^svc\/sample#\d+$/);
  });
  after(() => ws.close());
  beforeEach(() => {
    for (const name of ws.repository.git('remote').split('\n').filter(Boolean))
      ws.repository.git('remote', 'remove', name);
  });

  const find = async (task = id): Promise<string> => (await client.call('task.page', { id: task })).url;
  const issue = (origin: string): string => `${origin}/${reference.replace('#', '/issues/')}`;

  test('an issue is found by its reference, at the remote of that name', async () => {
    for (const [address, origin] of [
      ['https://code.example/svc/sample.git', 'https://code.example'],
      ['https://me:word@code.example:8443/Svc/Sample', 'https://code.example:8443'],
      ['http://localhost:3000/svc/sample.git', 'http://localhost:3000'],
      ['git@code.example:svc/sample.git', 'https://code.example'],
      ['ssh://git@code.example:2222/svc/sample', 'https://code.example'],
    ] as const) {
      ws.repository.git('remote', 'add', 'origin', 'https://elsewhere.example/other/place.git');
      ws.repository.git('remote', 'add', 'source', address);
      assert.equal(await find(), issue(origin), address);
      ws.repository.git('remote', 'remove', 'source');
      ws.repository.git('remote', 'remove', 'origin');
    }
  });

  test('an issue of another repository is at the host of origin, as that of a fork is', async () => {
    ws.repository.git('remote', 'add', 'origin', 'git@code.example:me/sample.git');
    assert.equal(await find(), issue('https://code.example'));
  });

  test('a page is not found without a remote on the web, or for a task of this machine', async () => {
    const isMissing = (error: unknown): boolean => error instanceof SvcError && error.code === 'not_found';
    await assert.rejects(find(), isMissing);
    ws.repository.git('remote', 'add', 'origin', '/srv/git/sample.git');
    await assert.rejects(find(), isMissing);
    const own = await client.call('task.add', { title: 'Mine' });
    await assert.rejects(find(own.task_id), /has no pull request, and came from no issue/);
  });

  test('a pull request whose address its program did not print is found by its number', async () => {
    ws.repository.git('remote', 'add', 'origin', 'git@code.example:me/sample.git');
    const { task_id: task } = await client.call('task.add', {
      body: '#agent: edit a.txt one',
      agent: 'scripted',
    });
    const { session_id: session } = await client.call('task.run', { id: task, wait: true });
    for (const [program, path] of [
      ['gh', 'pull/7'],
      ['glab', '-/merge_requests/7'],
      ['tea', 'pulls/7'],
    ] as const) {
      const opened = { program, remote: 'origin', branch: 'x', head: 'c'.repeat(40) };
      await client.call('worktree.record_pr', { session, opened, number: 7, url: null, state: 'open' });
      assert.equal(await find(task), `https://code.example/me/sample/${path}`);
    }
  });

  test('a page at an address that a worker has changed is not opened', async () => {
    ws.repository.git('remote', 'add', 'origin', 'git@code.example:svc/sample.git');
    assert.equal(await find(), issue('https://code.example'));
    const body = '#agent: run git remote set-url origin https://other.example/svc/sample.git';
    const { task_id: task } = await client.call('task.add', { body, agent: 'scripted' });
    await client.call('task.run', { id: task, wait: true });
    await assert.rejects(find(), /remote\.origin\.url was changed during a run/);
  });
});
