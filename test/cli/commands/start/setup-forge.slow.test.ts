import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import {
  describeKind,
  makeForgeWorkspace,
  startForge,
  type TestForge,
  type TestForgeKind,
} from '../../../support/forge.ts';
import { openTerminal, withTmux } from '../../../support/terminals/terminal.ts';
import { until } from '../../../support/wait.ts';
import { SVC, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

/** The variables without which the program is not logged in, and the hint. */
const WITHOUT_LOGIN = {
  github: [{ GH_ENTERPRISE_TOKEN: '', GH_TOKEN: '' }, /hint: gh auth login/],
  gitlab: [{ GITLAB_TOKEN: '' }, /hint: glab auth login/],
  gitea: [{ XDG_CONFIG_HOME: '/nonexistent' }, /hint: tea logins add/],
} satisfies Record<TestForgeKind, [Record<string, string>, RegExp]>;

function describeSetup(kind: TestForgeKind): void {
  const { title, missing, repository } = describeKind(kind);
  describe(`svc setup ${kind}`, { skip: missing }, () => {
    let forge: TestForge;
    let ws: TestWorkspace;
    before(async () => {
      forge = await startForge(kind);
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
      const { code, stdout, stderr } = await setup(kind, '--dry-run');
      assert.equal(code, 0, stderr);
      assert.ok(
        stdout.includes(`svc.yaml, sources:\n  - kind: ${kind}\n    repository: ${repository}\n`),
        stdout,
      );
      assert.ok(stdout.includes(`pull_request: draft\n${repository}: a new label svc\n`), stdout);
      assert.deepEqual([read(), forge.host.labels.size], [before, 0]);
    });

    test('without a terminal it asks for --yes, and writes nothing', async () => {
      const before = read();
      const { code, stderr } = await setup(kind);
      assert.equal(code, 2);
      assert.match(stderr, /hint: --yes writes it, --dry-run only shows it/);
      assert.equal(read(), before);
    });

    test('one command is enough: the next labelled issue becomes a task, and its work a draft', async () => {
      const { code, stdout, stderr } = await setup(kind, '--yes', '--agent', 'scripted');
      assert.equal(code, 0, stderr);
      assert.match(stdout, /an issue that gets the label svc becomes a task/);
      assert.ok(forge.host.labels.has('svc'));
      const { sources, webhook } = parse(read());
      assert.deepEqual(sources, [parse(forge.source)]);
      assert.equal(webhook.templates.codehost.pull_request, 'draft');
      forge.host.advance(60);
      forge.host.openIssue({ title: 'Add a page', body: '#agent: edit page.txt x', labels: ['svc'] });
      const client = await ws.connect();
      await client.call('source.poll', {});
      const approved = await ws.svc(['approve', 't-1']);
      assert.equal(approved.code, 0, approved.stderr);
      const pull = await until(
        async () => (await client.call('session.list', {}))[0]?.pull_request,
        'the pull request',
      );
      assert.equal(pull.url, forge.host.pullRequests[0]!.html_url);
      assert.equal(forge.host.pullRequests[0]!.draft, true);
      client.close();
    });

    test('a second run changes nothing, or only what differs', async () => {
      const before = read();
      const again = await setup(kind, '--yes', '--agent', 'scripted');
      assert.ok(again.stdout.includes(`${repository} is set up already`), again.stdout);
      assert.equal(read(), before);
      const ready = await setup(kind, '--yes', '--agent', 'scripted', '--pull-request', 'ready');
      assert.equal(ready.code, 0, ready.stderr);
      const { sources, webhook } = parse(read());
      assert.deepEqual([sources.length, webhook.templates.codehost.pull_request], [1, 'ready']);
      const undone = await setup('undo');
      assert.equal(undone.code, 0, undone.stderr);
      assert.equal(read(), before);
    });

    test('undo keeps what was changed since then', async () => {
      await setup(kind, '--yes', '--label', 'bot', '--agent', 'scripted', '--pull-request', 'ready');
      const changed = read().replace('pull_request: ready', 'pull_request: off');
      writeFileSync(file(), changed);
      const { stdout, stderr } = await setup('undo');
      assert.match(stdout, /removed from svc\.yaml: sources/);
      assert.match(stderr, /left alone: webhook\.templates\.codehost/);
      const { sources, webhook } = parse(read());
      assert.deepEqual(sources, [parse(forge.source)]);
      assert.equal(webhook.templates.codehost.pull_request, 'off');
    });

    test('people who are trusted and a topic of ntfy are written once', async () => {
      const args = [kind, '--yes', '--agent', 'scripted', '--trust', '@ann,bob', '--notify', 'ntfy'];
      const { code, stdout, stderr } = await setup(...args);
      assert.equal(code, 0, stderr);
      const { policy, notify } = parse(read());
      assert.deepEqual(policy.actors, ['codehost:ann', 'codehost:bob']);
      assert.deepEqual(notify.push, [{ kind: 'ntfy', topic_env: 'SVC_NTFY_TOPIC' }]);
      const secrets = join(ws.env.SVC_HOME ?? '', 'keys.env');
      const [, topic] = /^SVC_NTFY_TOPIC=(svc-[0-9a-f]{32})$/m.exec(readFileSync(secrets, 'utf8')) ?? [];
      assert.ok(topic !== undefined && stdout.includes(`subscribe to the topic ${topic} `), stdout);
      assert.ok(!read().includes(topic));
      assert.equal(statSync(secrets).mode & 0o777, 0o600);
      const again = await setup(...args);
      assert.ok(again.stdout.includes('is set up already'), again.stdout);
      assert.equal((await setup('undo')).code, 0);
      const { policy: laterPolicy, notify: laterNotify } = parse(read());
      assert.deepEqual([laterPolicy?.actors ?? [], laterNotify?.push ?? []], [[], []]);
    });

    test('logins that no one can have are refused', async () => {
      const before = read();
      for (const logins of ['', 'ann;id', '--all', 'ann bob\u{202e}']) {
        const { code, stderr } = await setup(kind, '--yes', `--trust=${logins}`);
        assert.equal(code, 2, logins);
        assert.match(stderr, /is not the login of a person/);
      }
      assert.equal(read(), before);
    });

    test('a wrong repository and a missing login are named with the way out', async () => {
      const before = read();
      const own = kind === 'github' ? [] : ['--host', forge.host.address];
      const wrong = await setup(kind, 'acme/none', ...own, '--yes');
      assert.equal(wrong.code, 1);
      assert.match(wrong.stderr, new RegExp(`${title} refused .*acme/none: .*Not Found`));
      const [variables, hint] = WITHOUT_LOGIN[kind];
      const { code, stderr } = await ws.svc(['setup', kind, '--yes'], {
        env: { ...ws.env, ...variables },
      });
      assert.equal(code, 1);
      assert.match(stderr, hint);
      ws.repository.git('remote', 'rename', 'origin', 'other');
      const unnamed = await setup(kind, '--yes');
      ws.repository.git('remote', 'rename', 'other', 'origin');
      assert.match(unnamed.stderr, /this repository has no remote origin\nhint: name it: svc setup/);
      assert.equal(read(), before);
    });
  });
}

for (const kind of ['github', 'gitlab', 'gitea'] as const) describeSetup(kind);

test('svc setup asks five questions at a terminal and writes the answers', withTmux, async (t) => {
  const forge = await startForge('github');
  t.after(forge.close);
  const ws = await makeForgeWorkspace(forge, { yaml: '', hosted: false });
  t.after(ws.close);
  const terminal = await openTerminal({
    command: [process.execPath, SVC, 'setup', 'github', '--agent', 'scripted'],
    cwd: ws.root,
    env: ws.env,
    columns: 140,
  });
  t.after(terminal.close);
  const answers: [RegExp, string][] = [
    [/off, draft or ready\?/, 'ready'],
    [/Which label/, ''],
    [/besides the members of acme\/shop\? \(no one\)/, 'ann, bob'],
    [/desktop, ntfy or telegram\?/, 'telegram'],
    [/Write this\?/, ''],
  ];
  for (const [question, answer] of answers) {
    await terminal.shows(question);
    terminal.type(answer);
    terminal.keys('Enter');
  }
  await terminal.shows(/is set up: an issue that gets the label svc[\s\S]*BotFather[\s\S]*svc notify pair/);
  const { policy, webhook, notify } = parse(readFileSync(join(ws.root, 'svc.yaml'), 'utf8'));
  assert.deepEqual(policy.actors, ['codehost:ann', 'codehost:bob']);
  assert.deepEqual([webhook.templates.codehost.pull_request, notify?.push], ['ready', undefined]);
});
