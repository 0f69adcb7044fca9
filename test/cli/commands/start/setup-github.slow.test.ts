import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { GH_MISSING, makeForgeWorkspace, startForge, type TestForge } from '../../../support/forge.ts';
import { until } from '../../../support/wait.ts';
import type { TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('svc setup github', { skip: GH_MISSING }, () => {
  let forge: TestForge;
  let ws: TestWorkspace;
  before(async () => {
    forge = await startForge();
    ws = await makeForgeWorkspace(forge, { yaml: '', hosted: true });
  });
  after(async () => {
    await ws?.close();
    await forge?.close();
  });

  const file = () => join(ws.root, 'svc.yaml');
  const read = () => readFileSync(file(), 'utf8');
  const setup = (...args: string[]) => ws.svc(['setup', ...args]);

  test('a trial shows what would be written, and writes nothing', async () => {
    const before = read();
    const { code, stdout, stderr } = await setup('github', '--dry-run');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /svc\.yaml, sources:\n {2}- kind: github\n {4}repository: acme\/shop\n/);
    assert.match(stdout, /pull_request: draft\nacme\/shop: a new label svc$/m);
    assert.deepEqual([read(), forge.github.labels.size], [before, 0]);
  });

  test('without a terminal it asks for --yes, and writes nothing', async () => {
    const before = read();
    const { code, stderr } = await setup('github');
    assert.equal(code, 2);
    assert.match(stderr, /hint: --yes writes it, --dry-run only shows it/);
    assert.equal(read(), before);
  });

  test('one command is enough: the next labelled issue becomes a task, and its work a draft', async () => {
    const { code, stdout, stderr } = await setup('github', '--yes', '--agent', 'scripted');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /an issue that gets the label svc becomes a task/);
    assert.ok(forge.github.labels.has('svc'));
    const { sources, webhook } = parse(read());
    assert.deepEqual(sources, [{ kind: 'github', repository: 'acme/shop' }]);
    assert.equal(webhook.templates.codehost.pull_request, 'draft');
    forge.github.advance(60);
    forge.github.openIssue({ title: 'Add a page', body: '#agent: edit page.txt x', labels: ['svc'] });
    const client = await ws.connect();
    await client.call('source.poll', {});
    const approved = await ws.svc(['approve', 't-1']);
    assert.equal(approved.code, 0, approved.stderr);
    const pull = await until(
      async () => (await client.call('session.list', {}))[0]?.pull_request,
      'the pull request',
    );
    assert.equal(pull.url, forge.github.pullRequests[0]!.html_url);
    assert.equal(forge.github.pullRequests[0]!.draft, true);
    client.close();
  });

  test('a second run changes nothing, or only what differs', async () => {
    const before = read();
    const again = await setup('github', '--yes', '--agent', 'scripted');
    assert.match(again.stdout, /acme\/shop is set up already/);
    assert.equal(read(), before);
    const ready = await setup('github', '--yes', '--agent', 'scripted', '--pull-request', 'ready');
    assert.equal(ready.code, 0, ready.stderr);
    const { sources, webhook } = parse(read());
    assert.deepEqual([sources.length, webhook.templates.codehost.pull_request], [1, 'ready']);
    const undone = await setup('undo');
    assert.equal(undone.code, 0, undone.stderr);
    assert.equal(read(), before);
  });

  test('undo keeps what was changed since then', async () => {
    await setup('github', '--yes', '--label', 'bot', '--agent', 'scripted', '--pull-request', 'ready');
    const changed = read().replace('pull_request: ready', 'pull_request: off');
    writeFileSync(file(), changed);
    const { stdout, stderr } = await setup('undo');
    assert.match(stdout, /removed from svc\.yaml: sources/);
    assert.match(stderr, /left alone: webhook\.templates\.codehost/);
    const { sources, webhook } = parse(read());
    assert.deepEqual(sources, [{ kind: 'github', repository: 'acme/shop' }]);
    assert.equal(webhook.templates.codehost.pull_request, 'off');
  });

  test('a wrong repository and a missing login are named with the way out', async () => {
    const before = read();
    const wrong = await setup('github', 'acme/none', '--yes');
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /GitHub refused repos\/acme\/none: Not Found/);
    const { code, stderr } = await ws.svc(['setup', 'github', '--yes'], {
      env: { ...ws.env, GH_ENTERPRISE_TOKEN: '', GH_TOKEN: '' },
    });
    assert.equal(code, 1);
    assert.match(stderr, /hint: gh auth login/);
    assert.equal(read(), before);
  });
});
