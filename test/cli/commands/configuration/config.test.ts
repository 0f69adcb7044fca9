import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('svc init and svc config', () => {
  let ws: TestWorkspace;
  const file = () => join(ws.root, 'svc.yaml');
  before(async () => {
    ws = await makeWorkspace();
  });
  after(() => ws.close());

  test('init never overwrites', async () => {
    const before = readFileSync(file(), 'utf8');
    const refused = await ws.svc(['init', '--yes', '--json']);
    assert.equal(refused.code, 5);
    assert.equal(readFileSync(file(), 'utf8'), before);
  });

  test('init writes a file that is valid, and hides .svc/ from git', async () => {
    const fresh = await makeWorkspace();
    try {
      fresh.repository.git('rm', '-q', 'svc.yaml', '.gitignore');
      assert.equal((await fresh.svc(['init', '--yes'])).code, 0);
      assert.equal((await fresh.svc(['config', 'check'])).code, 0);
      assert.equal((await fresh.svc(['task', 'add', 'x'])).code, 0);
      assert.doesNotMatch(fresh.repository.git('status', '--porcelain'), /\.svc/);
    } finally {
      await fresh.close();
    }
  });

  test('the command lists 87 keys in 20 sections, besides webhook, notify, retain, graph, asks, fleet, sources and the linked server, for people and programs', async () => {
    const keys = (await ws.svc(['config', 'keys', '--json'])).json<
      { key: string; type: string; description: string }[]
    >();
    const own = keys.filter(
      ({ key }) =>
        !/^(?:webhook|notify|retain|graph|asks|fleet|sources)(?:\.|$)|^server\.(?:titles|events|decide|decide_code)$/.test(
          key,
        ),
    );
    assert.equal(own.length, 87);
    assert.equal(new Set(own.map(({ key }) => key.split('.')[0])).size, 20);
    assert.ok(keys.every(({ description }) => description.length > 0));
    assert.match((await ws.svc(['config', 'keys'])).stdout, /agents\.timeout_sec/);
  });

  test('every value names its source: flag over environment over workspace over home over default', async () => {
    await ws.svc(['config', 'set', 'agents.timeout_sec', '120']);
    const value = async (env?: NodeJS.ProcessEnv) =>
      (await ws.svc(['config', 'get', 'agents.timeout_sec'], env ? { env } : {})).stdout.trim();
    assert.equal(await value(), '120');
    assert.equal(await value({ SVC_AGENT_TIMEOUT_SEC: '30' }), '30');
    const shown = await ws.svc(['config', 'show', '--sources', '--json'], {
      env: { SVC_AGENT_TIMEOUT_SEC: '30' },
    });
    assert.match(shown.stdout, /environment/);
  });

  test('an unknown key is answered with the nearest one, and an unset one with its meaning', async () => {
    const get = (name: string) => ws.svc(['config', 'get', name]);
    for (const [name, meant] of [
      ['agents.timeout_secs', 'agents.timeout_sec'],
      ['idle_timeout_sec', 'agents.idle_timeout_sec'],
      ['agnts', 'agents'],
      ['ai.olama', 'ai.ollama'],
      ['agents.', 'agents'],
      ['addr', 'daemon.addr or gateway.addr or ui.addr'],
    ] as const) {
      const { code, stderr } = await get(name);
      assert.equal(code, 2, name);
      assert.ok(stderr.includes(`unknown key ${name}, did you mean ${meant}?\n`), stderr);
    }
    assert.equal((await get('nothing_like_it')).stderr.split('\n')[0], 'error: unknown key nothing_like_it');
    const unset = await get('daemon.reap_interval_sec');
    assert.equal(unset.stdout, 'unset\n');
    assert.match(
      unset.stderr,
      /^note: daemon.reap_interval_sec is unset \(60; .+\); svc config set daemon.reap_interval_sec <value>/,
    );
    const entry = await get('agents.cmds.cluade');
    assert.deepEqual(
      [entry.code, entry.stdout, entry.stderr],
      [0, 'unset\n', 'note: agents.cmds has no entry cluade, did you mean claude?\n'],
    );
    assert.match((await get('agents')).stdout, /^default_cmd: /);
    assert.equal((await ws.svc(['config', 'get', 'daemon.reap_interval_sec', '--json'])).stdout, 'null\n');
  });

  test('a key that nothing uses yet says so, wherever keys are shown and where svc.yaml sets it', async () => {
    const own = await makeWorkspace();
    try {
      await own.svc(['config', 'set', 'workspace.root', '.']);
      const { stdout } = await own.svc(['config', 'check']);
      assert.deepEqual(stdout.split('\n').slice(0, 1), [
        'pending: workspace.root. Not used yet: reserved for a workspace in a different folder from its svc.yaml.',
      ]);
      const { unused } = (await own.svc(['config', 'check', '--json'])).json<{ unused: { key: string }[] }>();
      assert.deepEqual(
        unused.map(({ key }) => key),
        ['workspace.root'],
      );
    } finally {
      await own.close();
    }
    assert.doesNotMatch((await ws.svc(['config', 'check'])).stdout, /pending/);
    const listed = (await ws.svc(['config', 'keys'])).stdout.split('\n');
    for (const [key, isPending] of [
      ['workspace.root', true],
      ['telemetry.work', false],
    ] as const)
      assert.equal(/Not used yet/.test(listed.find((line) => line.startsWith(`${key} `)) ?? ''), isPending);
  });

  test('an unknown key or a wrong type names file, line, path and the nearest key, and exits 2', async () => {
    const before = readFileSync(file(), 'utf8');
    writeFileSync(file(), `${before}context:\n  treshold_bytes: 1\nmemory: { brief_limit: many }\n`);
    const refused = await ws.svc(['config', 'check']);
    writeFileSync(file(), before);
    assert.equal(refused.code, 2);
    assert.match(
      refused.stderr,
      /svc\.yaml:\d+:\d+ context\.treshold_bytes: unknown key, did you mean threshold_bytes\?/,
    );
    assert.match(refused.stderr, /svc\.yaml:\d+:\d+ memory\.brief_limit/);
  });

  test('set refuses an invalid value and leaves the file as it was', async () => {
    const before = readFileSync(file(), 'utf8');
    for (const [key, value] of [
      ['agents.timeout_sec', 'soon'],
      ['no.such.key', '1'],
      ['bus.retain_acked', 'a while'],
      ['gateway.addr', 'nowhere'],
    ]) {
      assert.equal((await ws.svc(['config', 'set', String(key), String(value)])).code, 2, key);
    }
    assert.equal(readFileSync(file(), 'utf8'), before);
  });

  test('schema prints a JSON Schema', async () => {
    const schema = JSON.parse((await ws.svc(['config', 'schema'])).stdout) as {
      properties: Record<string, unknown>;
    };
    assert.ok('agents' in schema.properties && 'webhook' in schema.properties);
  });
});

describe('a wrong command line', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace();
  });
  after(() => ws.close());

  test('a wrong command line names the mistake and the nearest match, and exits 2', async () => {
    const cases: [string[], RegExp][] = [
      [['tsk', 'list'], /did you mean svc task\?/],
      [['task'], /one of: svc task add/],
      [['task', 'lst'], /no command svc task lst/],
      [['task', 'show'], /missing argument: <id>/],
      [['task', 'show', 't-1', 't-2'], /unexpected argument "t-2"/],
      [['task', 'list', '--stats', 'open'], /no option --stats/],
      [['task', 'list', '--status', 'asleep'], /--status is one of open/],
      [['task', 'list', '--limit'], /--limit needs a value/],
      [['task', 'list', '--limit', 'many'], /--limit takes a number/],
    ];
    for (const [args, expected] of cases) {
      const ran = await ws.svc(args);
      assert.equal(ran.code, 2, args.join(' '));
      assert.match(ran.stderr, expected);
    }
    assert.equal(ws.daemonPid(), null, 'no engine was started');
  });

  test('every command outside a workspace says how to create one', async () => {
    const ran = await ws.svc(['task', 'list'], { cwd: '/' });
    assert.equal(ran.code, 4);
    assert.match(ran.stderr, /no svc\.yaml in \/ or above it\nhint: run svc init/);
  });

  test('the program, each group and each command have help', async () => {
    assert.match((await ws.svc(['--help'])).stdout, /usage: svc <command>/);
    assert.match((await ws.svc(['task', '--help'])).stdout, /usage: svc task <command>/);
    assert.match((await ws.svc(['task', 'add', '--help'])).stdout, /--accept/);
    assert.match((await ws.svc(['help', 'task', 'run'])).stdout, /usage: svc task run <id>/);
  });
});
