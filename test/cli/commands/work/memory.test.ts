import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

let ws: TestWorkspace;
before(async () => {
  ws = await makeWorkspace({ hosted: true });
});
after(() => ws.close());

test('svc memory stores, finds, edits, settles and forgets', async () => {
  const run = async (...args: string[]) => {
    const ran = await ws.svc(['memory', ...args]);
    assert.equal(ran.code, 0, ran.stderr);
    return ran;
  };
  const stored = await run(
    'add',
    '-t',
    'gotcha',
    '--title',
    'Ocelot port',
    'It is 8790, token=ghp_',
    `x${'aB3'.repeat(12)}`,
  );
  const [id = ''] = /m-\w{10}/.exec(stored.stdout) ?? [];
  assert.match(
    (await run('recall', 'which', 'port', 'ocelot')).stdout,
    new RegExp(`^${id} Ocelot port \\(gotcha, \\d+s old\\)\\n  It is`),
  );
  assert.match((await run('recall', 'port of the zeppelin hangar')).stderr, /nothing about this; nearest:/);
  assert.match((await run('list')).stdout, /Ocelot port/);
  assert.match((await run('edit', id, '--text', 'It is 8791.')).stdout, /replaced by m-/);
  assert.match((await run('show', id)).stdout, /superseded by m-/);
  const [edited = ''] = /m-\w{10}/.exec((await run('recall', 'ocelot')).stdout) ?? [];
  const withEditor = async (script: string) => {
    const ran = await ws.svc(['memory', 'edit', edited], { env: { VISUAL: `sh -c '${script}' svc` } });
    assert.equal(ran.code, 0, ran.stderr);
    return ran;
  };
  assert.match((await withEditor(':')).stderr, /is unchanged/);
  await withEditor('sed -i s/8791/8792/ "$1"');
  assert.match((await run('recall', 'ocelot')).stdout, /8792/);
  const other = await run('add', '-t', 'gotcha', '--title', 'ocelot PORT', 'It is 1.\u001b[2J');
  assert.match(other.stderr, /same title, different text/);
  const [kept = ''] = /m-\w{10}/.exec(other.stdout) ?? [];
  assert.ok(!(await run('conflicts')).stdout.includes('\u001b'));
  assert.match((await run('conflicts', '--keep', kept)).stdout, /supersedes m-/);
  assert.match((await run('review')).stderr, /nothing waits/);
  assert.match((await run('forget', kept)).stdout, /is forgotten/);
  assert.match((await run('sweep')).stdout, /none/);
  assert.equal((await ws.svc(['memory', 'show', 'm-zzzzzz'])).code, 4);
});
