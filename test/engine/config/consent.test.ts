import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  agreeToFile,
  describeKeys,
  listConsentKeys,
  listPendingLines,
  loadConfig,
  recordFirstUse,
  setKey,
  trustConfig,
  writeConfig,
} from '../../../engine/config/index.ts';
import { createConfigKeeper } from '../../../engine/config/keeper.ts';
import { gitEnvironment } from '../../support/workspaces/git.ts';
import { folder } from './support.ts';

/** A workspace in a separate repository; with `tracked`, git tracks its svc.yaml. */
function workspace(t: TestContext, text: string, { tracked = true } = {}) {
  const root = folder(t);
  const file = join(root, 'svc.yaml');
  const env = { PATH: process.env.PATH, SVC_HOME: join(root, 'home') };
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, env: gitEnvironment(), stdio: 'pipe' });
  git('init', '--quiet');
  writeFileSync(file, text);
  if (tracked) git('add', 'svc.yaml');
  const load = () => loadConfig({ file, env });
  return {
    root,
    file,
    env,
    git,
    load,
    write: (next: string) => writeFileSync(file, next),
    pending: () => load().consent.pending.map(({ key }) => key),
    record: () => {
      const at = join(env.SVC_HOME, 'consents');
      return readdirSync(at)
        .map((name) => readFileSync(join(at, name), 'utf8'))
        .join();
    },
  };
}

test('exactly the keys that name a program, an address, a guard or a path need consent', () => {
  assert.deepEqual(listConsentKeys(), [
    ...[
      'default_cmd',
      'default_preset',
      'cmds',
      'interactive',
      'notify',
      'transport',
      'acp',
      'permissions',
    ].map((key) => `agents.${key}`),
    ...['agents.gateway_route', 'agents.auth', 'ai.mode', 'ai.ollama.host', 'ai.providers'],
    ...['base_url', 'api_key', 'api_key_env'].map((key) => `ai.passthrough.anthropic.${key}`),
    ...[
      'ai.embeddings',
      'ai.budget_tokens_day',
      'context.dir',
      'daemon.socket',
      'daemon.addr',
      'db.path',
      'gateway.addr',
    ],
    ...['guard.profile', 'guard.checks', 'guard.dup.mode', 'guard.dup.window', 'guard.dup.min_tokens'],
    ...['guard.dup.max_files', 'guard.language.exclude'],
    ...['memory.okf_dir', 'paths.shared', 'paths.agents', 'paths.worktrees', 'paths.data'],
    ...['policy.mode', 'policy.actors', 'project.root', 'projects', 'server.url', 'server.token_path'],
    ...['server.titles', 'server.events', 'server.decide', 'server.decide_code'],
    ...['telemetry.work', 'ui.addr', 'workspace.root'],
    ...['secret_env', 'allow', 'require_approval', 'templates'].map((key) => `webhook.${key}`),
    'notify.webhooks',
    'notify.push',
    'retain.events',
    'retain.tasks',
    'retain.logs',
    'retain.refs',
    'retain.discarded',
    'graph.exact',
    'fleet.pool',
    'fleet.pools',
    'sources',
  ]);
  // For a new key that holds a command, an address or a folder, decide whether it needs consent.
  const telling = /command|address|folder|path of|credential|secret/i;
  const free = describeKeys().filter(({ consent, description }) => !consent && telling.test(description));
  // The description mentions a folder, but the value is a name.
  assert.deepEqual(
    free.map(({ key }) => key),
    ['project.name'],
  );
});

const EVIL = 'agents:\n  default_preset: mine\n  cmds: { mine: "evil {{prompt}}" }\n  timeout_sec: 77\n';

test('a tracked file without consent leaves its keys at their defaults; the free keys apply', (t) => {
  const { load, pending } = workspace(t, EVIL);
  const { config, consent, sources } = load();
  assert.equal(consent.state, 'none');
  assert.deepEqual(pending(), ['agents.default_preset', 'agents.cmds']);
  assert.deepEqual([config.agents.default_preset, config.agents.cmds.mine], ['', undefined]);
  assert.equal(config.agents.timeout_sec, 77);
  assert.deepEqual([sources.get('agents.cmds'), sources.get('agents.timeout_sec')], ['default', 'workspace']);
});

test('an untracked file is agreed to at its first use only, even when it is ignored', (t) => {
  for (const ignored of [false, true]) {
    const { load, pending, write, env, root } = workspace(t, EVIL, { tracked: false });
    if (ignored) writeFileSync(join(root, '.gitignore'), 'svc.yaml\n');
    assert.equal(load().config.agents.cmds.mine, 'evil {{prompt}}');
    assert.equal(existsSync(join(root, 'home')), false, 'reading records nothing');
    assert.equal(recordFirstUse(load(), env), null);
    write(EVIL.replace('evil', 'worse'));
    assert.deepEqual(pending(), ['agents.cmds']);
    assert.equal(load().config.agents.cmds.mine, 'evil {{prompt}}', 'the earlier value stays');
  }
});

test('a file without keys that need consent is used; its later ones wait, tracked or not', (t) => {
  const { load, pending, write, git, env } = workspace(t, 'bus: { max_acked: 3 }\n');
  assert.equal(load().consent.state, 'given');
  recordFirstUse(load(), env);
  write(EVIL);
  git('rm', '--quiet', '--cached', '--force', 'svc.yaml');
  assert.deepEqual([load().consent.state, pending()], ['changed', ['agents.default_preset', 'agents.cmds']]);
});

test('comments, layout, order, and a default that is written out make no difference', (t) => {
  const { load, pending, write, file, env } = workspace(
    t,
    'guard: { profile: strict }\npolicy: { actors: [a, b], mode: allowlist }\n',
  );
  agreeToFile({ file, env });
  const { digest } = load().consent;
  write('# why\npolicy:\n  mode: allowlist\n  actors:\n    - a\n    - "b"\nguard:\n  profile: strict\n');
  assert.equal(load().consent.digest, digest);
  write(
    'policy: { actors: [a, b], mode: allowlist }\nguard: { profile: strict }\nwebhook: { require_approval: true }\npaths: { data: .svc }\n',
  );
  assert.deepEqual(pending(), []);
  write('policy: { actors: [b, a], mode: allowlist }\n');
  assert.deepEqual(pending(), ['guard.profile', 'policy.actors']);
  assert.equal(load().config.guard.profile, 'strict', 'removing a guard needs consent too');
});

test('agreed values that conflict with free changes stay in use as a whole', (t) => {
  const { load, write, file, env } = workspace(
    t,
    'project: { name: one }\nwebhook: { templates: { fix: { prompt: x, project: one } } }\n',
  );
  agreeToFile({ file, env });
  write('project: { name: two }\nwebhook: { templates: { fix: { prompt: y, project: two } } }\n');
  const { config, consent } = load();
  assert.equal(consent.state, 'changed');
  assert.deepEqual([config.project.name, config.webhook.templates.fix?.prompt], ['one', 'x']);
});

test('writing a key agrees to that key and to no pending one', (t) => {
  const { load, pending, file, env } = workspace(t, EVIL);
  recordFirstUse(load(), env);
  setKey({ file, env, name: 'guard.profile', text: 'strict' });
  assert.equal(load().config.guard.profile, 'strict');
  assert.deepEqual(pending(), ['agents.default_preset', 'agents.cmds']);
  setKey({ file, env, name: 'agents.cmds.other', text: 'other {{prompt}}' });
  const { cmds } = load().config.agents;
  assert.deepEqual([cmds.other, cmds.mine], ['other {{prompt}}', undefined]);
  assert.deepEqual(pending(), ['agents.default_preset', 'agents.cmds']);
  setKey({ file, env, name: 'agents.cmds.other', text: 'null' });
  assert.equal(load().config.agents.cmds.other, undefined);
});

test('an edit agrees to the keys that it changes, and to none of a file that was broken before', (t) => {
  const { load, pending, write, file, env } = workspace(t, EVIL);
  recordFirstUse(load(), env);
  const text = `${EVIL}policy: { actors: [me], mode: allowlist }\n`;
  assert.throws(() => writeConfig({ file, env, text, seen: 'something else', actor: 'me' }), {
    code: 'conflict',
  });
  writeConfig({ file, env, text, seen: EVIL, actor: 'me' });
  assert.deepEqual(load().config.policy.actors, ['me']);
  assert.deepEqual(pending(), ['agents.default_preset', 'agents.cmds']);
  write(`${text}guard: [`);
  writeConfig({ file, env, text: `${text}guard: { profile: none }\n`, actor: 'me' });
  assert.ok(pending().includes('guard.profile'));
});

test('a consent covers the keys that a digest names, whole or by key, and no key that needs none', (t) => {
  const { load, pending, write, file, env } = workspace(t, EVIL);
  const { digest } = load().consent;
  const trust = (keys?: string[], named = digest) =>
    trustConfig({ file, env, digest: named, keys, actor: 'me' });
  assert.throws(() => trust(['agents.timeout_sec']), { code: 'usage' });
  trust(['agents.cmds']);
  assert.deepEqual(pending(), ['agents.default_preset']);
  write(EVIL.replace('evil', 'worse'));
  assert.throws(() => trust(), { code: 'conflict' });
  trust(undefined, load().consent.digest);
  assert.deepEqual(pending(), []);
});

test('a secret in the file is recorded as a digest, and a change of it waits', (t) => {
  const yaml = (key: string) =>
    `ai: { passthrough: { anthropic: { api_key: ${key} } } }\nagents: { notify: { claude: { mode: http, url: "http://me:${key}@127.0.0.1:1", headers: { Authorization: ${key} } } } }\n`;
  const { load, pending, write, file, env, record } = workspace(t, yaml('one-secret'));
  agreeToFile({ file, env });
  assert.equal(record().includes('one-secret'), false);
  assert.equal(load().config.ai.passthrough.anthropic.api_key, 'one-secret');
  write(yaml('two-secret'));
  assert.deepEqual(pending(), ['agents.notify', 'ai.passthrough.anthropic.api_key']);
  assert.equal(JSON.stringify(load().consent).includes('secret'), false);
  assert.equal(load().config.ai.passthrough.anthropic.api_key, '');
});

test('pending consents are shown entry by entry, with everything that a terminal would hide', (t) => {
  const { load, file, env, write } = workspace(
    t,
    'agents: { cmds: { a: "a {{prompt}}", b: "b {{prompt}}" } }\n',
  );
  agreeToFile({ file, env });
  write('agents: { cmds: { a: "a {{prompt}}", b: "c\\u202e {{prompt}}" } }\n');
  assert.deepEqual(listPendingLines(load().consent.pending), [
    { key: 'agents.cmds.b', old: '"b {{prompt}}"', new: '"c\\u202e {{prompt}}"' },
  ]);
});

test('a map that becomes a text or a list, or the reverse, is shown with both', () => {
  const [map, text] = [{ task: 'A', chat: 'B' }, 'C'];
  assert.deepEqual(listPendingLines([{ key: 'k', old: map, new: text }]), [
    { key: 'k', old: '{"task":"A","chat":"B"}', new: '"C"' },
  ]);
  assert.deepEqual(listPendingLines([{ key: 'k', old: text, new: map }]), [
    { key: 'k', old: '"C"', new: '{"task":"A","chat":"B"}' },
  ]);
  assert.deepEqual(listPendingLines([{ key: 'k', old: { a: map }, new: { a: ['x'] } }]), [
    { key: 'k.a', old: '{"task":"A","chat":"B"}', new: '["x"]' },
  ]);
  assert.deepEqual(listPendingLines([{ key: 'k', old: null, new: { a: 1 } }]), [
    { key: 'k.a', old: null, new: '1' },
  ]);
});

test('a machine home that cannot be written: the first use is remembered, and there is no second one', (t) => {
  const { file, env, root, write } = workspace(t, EVIL, { tracked: false });
  writeFileSync(join(root, 'home'), 'a file in its place');
  const keeper = createConfigKeeper({ file, env });
  t.after(keeper.close);
  assert.equal(keeper.loaded().config.agents.cmds.mine, 'evil {{prompt}}');
  write(`${EVIL.replace('evil', 'worse')}# longer\n`);
  keeper.refresh();
  assert.equal(keeper.loaded().config.agents.cmds.mine, 'evil {{prompt}}');
  assert.equal(keeper.loaded().consent.state, 'changed');
});

test('two configuration files of one folder have separate consents', (t) => {
  const { root, file, env } = workspace(t, EVIL);
  agreeToFile({ file, env });
  mkdirSync(join(root, 'x'));
  const other = join(root, 'other.yaml');
  writeFileSync(other, EVIL.replace('evil', 'worse'));
  execFileSync('git', ['add', 'other.yaml'], { cwd: root, env: gitEnvironment() });
  assert.equal(loadConfig({ file: other, env }).consent.state, 'none');
  assert.equal(loadConfig({ file, env }).consent.state, 'given');
});

test('records of an earlier version, with consents of projects only, are read', (t) => {
  const { load, file, env, root } = workspace(t, EVIL);
  agreeToFile({ file, env });
  const at = join(env.SVC_HOME, 'consents');
  const record = join(at, readdirSync(at)[0] ?? '');
  const projects = { api: { digest: 'd', at: '2026-01-01T00:00:00Z', actor: 'me' } };
  writeFileSync(record, JSON.stringify({ root, projects }));
  chmodSync(record, 0o600);
  assert.deepEqual([load().consent.state, load().consent.problem], ['none', null]);
  agreeToFile({ file, env });
  assert.deepEqual(JSON.parse(readFileSync(record, 'utf8')).projects, projects);
});
